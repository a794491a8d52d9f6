/// Karakuri: deterministic rigid multibody dynamics. This header includes all public headers.
#ifndef KARAKURI_KARAKURI_H
#define KARAKURI_KARAKURI_H

#include <karakuri/actuator.h>
#include <karakuri/allocator.h>
#include <karakuri/analysis.h>
#include <karakuri/api.h>
#include <karakuri/batch.h>
#include <karakuri/collision.h>
#include <karakuri/compare.h>
#include <karakuri/constraint.h>
#include <karakuri/control.h>
#include <karakuri/doctor.h>
#include <karakuri/dynamics.h>
#include <karakuri/elementary.h>
#include <karakuri/hash.h>
#include <karakuri/identify.h>
#include <karakuri/ik.h>
#include <karakuri/json.h>
#include <karakuri/load.h>
#include <karakuri/material.h>
#include <karakuri/math.h>
#include <karakuri/model.h>
#include <karakuri/number.h>
#include <karakuri/observer.h>
#include <karakuri/optimize.h>
#include <karakuri/project.h>
#include <karakuri/random.h>
#include <karakuri/recording.h>
#include <karakuri/save.h>
#include <karakuri/sensor.h>
#include <karakuri/sequence.h>
#include <karakuri/shape.h>
#include <karakuri/simulate.h>
#include <karakuri/simulations.h>
#include <karakuri/spec.h>
#include <karakuri/stabilizer.h>
#include <karakuri/state.h>
#include <karakuri/status.h>
#include <karakuri/table.h>
#include <karakuri/variation.h>
#include <karakuri/version.h>
#include <karakuri/view.h>
#include <karakuri/walk.h>
#include <karakuri/workers.h>

#endif
