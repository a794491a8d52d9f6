"""Robots and scenes for the tests, built from text so that nothing but the package is needed."""
from __future__ import annotations

import karakuri

ARM = """
<mujoco model="arm">
  <option timestep="0.002"/>
  <worldbody>
    <geom name="ground" type="plane" size="5 5 .1"/>
    <body name="cart" pos="0 0 .3">
      <freejoint name="base"/>
      <geom type="box" size=".2 .15 .05" mass="3"/>
      <body name="upper" pos="0 0 .05">
        <joint name="shoulder" type="hinge" axis="0 1 0" damping=".1" range="-120 120"/>
        <geom type="capsule" fromto="0 0 0 0 0 .3" size=".03" mass=".5"/>
        <body name="lower" pos="0 0 .3">
          <joint name="elbow" type="hinge" axis="0 1 0" damping=".1"/>
          <geom type="capsule" fromto="0 0 0 0 0 .25" size=".025" mass=".3"/>
          <site name="tip" pos="0 0 .25"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="1 0 .5"><joint name="ball_x" type="slide" axis="0 0 1"/><geom size=".05" mass=".2"/></body>
  </worldbody>
  <actuator>
    <motor name="m_shoulder" joint="shoulder" ctrlrange="-5 5" ctrllimited="true"/>
    <position name="p_elbow" joint="elbow" kp="20"/>
    <general name="slow" joint="shoulder" dyntype="filter" dynprm=".05" gainprm="2"/>
  </actuator>
  <sensor><jointpos name="angle" joint="shoulder"/><accelerometer name="imu" site="tip" noise=".01"/></sensor>
  <keyframe><key name="bent" qpos="0 0 .3 1 0 0 0 .5 -.7 0"/></keyframe>
</mujoco>
"""


def arm() -> karakuri.Model:
    return karakuri.loads(ARM)
