#!/usr/bin/env python3
"""What streaming costs: a humanoid of 36 degrees of freedom with 100 contacts, shown at 60 Hz; bar: 5 % of one core.

    tests/server/measure.py [--tool build/release/karakuri] [--seconds 10]

Takes the processor time of the simulating process with somebody watching and without, in turn, and the server's own account of it.
"""
import argparse
import os
import pathlib
import statistics
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run as server_test  # noqa: E402

BAR = 5.0


def crowded_scene(folder):
    """The humanoid among boxes that lie on the floor, each with four contacts."""
    text = server_test.MODEL.read_text()
    boxes = "".join(f'<body name="crowd{i}" pos="{1 + 0.3 * (i % 5)} {-1 + 0.3 * (i // 5)} 0.05"><freejoint/>'
                    f'<geom type="box" size="0.05 0.05 0.05" mass="1"/></body>' for i in range(23))
    # the humanoid's keyframe has no numbers for them
    begin, end = text.find("<keyframe>"), text.find("</keyframe>")
    text = text[:begin] + text[end + len("</keyframe>"):] if begin >= 0 else text
    path = folder / "crowded.xml"
    path.write_text(text.replace("</worldbody>", boxes + "</worldbody>"))
    return path


def processor_time(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(server, seconds, witness):
    start, steps = processor_time(server.process), witness.last if witness else 0
    time.sleep(seconds)
    return 100 * (processor_time(server.process) - start) / seconds, (witness.last - steps if witness else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=server_test.ROOT / "build" / "release" / "karakuri")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    folder = server_test.ROOT / "build" / "server-test"
    folder.mkdir(parents=True, exist_ok=True)
    server = server_test.Server(options.tool, crowded_scene(folder))
    alone, watched, rounds = [], [], 5
    time.sleep(1)
    for _ in range(rounds):
        alone.append(watch(server, options.seconds / rounds, None)[0])
        witness = server_test.Witness(server)
        time.sleep(0.1)
        watched.append(watch(server, options.seconds / rounds, witness)[0])
        witness.end()
    client = server_test.Client(server)
    while True:
        kind, data = client.receive()
        if kind == server_test.BYTES:
            break
    contacts, nv = struct.unpack_from("<I", data, 40)[0], struct.unpack_from("<I", data, 48)[0]
    client.end()
    counts, _ = server.end()
    own = 100 * counts["stream_cpu_seconds"] / counts["wall_seconds"]
    frames = counts["frames"] / (options.seconds + 0.5)
    difference = statistics.median(watched) - statistics.median(alone)
    print(f"scene                     {nv} degrees of freedom (36 of the humanoid), {contacts} contacts, {len(data)} bytes a frame")
    print(f"simulated / wall          {counts['simulated_seconds'] / counts['wall_seconds']:.3f}")
    print(f"frames a second           {frames:.1f}")
    print(f"process alone             {statistics.median(alone):.1f} % of one core (simulating)")
    print(f"process watched           {statistics.median(watched):.1f} %")
    print(f"streaming, difference     {difference:.1f} %   bar {BAR} %")
    print(f"streaming, own account    {own * 2:.1f} %   while watched, waiting for requests included")
    return 0 if difference <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
