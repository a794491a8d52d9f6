#!/usr/bin/env bash
# Draws the README's pictures into docs/pictures, each by one command: `make pictures`. Without a graphics card, a browser or a display.
#
#   scripts/pictures.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
tool=build/release/karakuri
folder=${1:-docs/pictures}
mkdir -p "$folder"

walk=$(mktemp --suffix=.kkr)
trap 'rm -f "$walk"' EXIT
$tool run models/hrp2/hrp2.xml --keyframe half_sitting --time 4.2 --control models/hrp2/walk.csv --allow-missing --quiet --out "$walk" >/dev/null
$tool render "$walk" --model models/hrp2/hrp2.xml --forces --balance --view -50,14 --size 960x540 --quiet --out "$folder/walk.png"
$tool render models/hrp2/hrp2.xml --keyframe half_sitting --time 1 --forces --balance --view -50,14 --size 960x540 --quiet --out "$folder/robot.png"
$tool render models/crane/crane.urdf --control models/crane/lift.csv --time 5 --view -62,14 --look 0,0,0.36 --distance 3.3 --angle 22 \
    --size 960x540 --quiet --out "$folder/crane.png"
$tool exam --row 16 --draw-only --pictures --out "$folder" >/dev/null
mv "$folder/exam16.png" "$folder/exam.png"
echo "$folder/exam.png: the arch of the exam, row 16"
