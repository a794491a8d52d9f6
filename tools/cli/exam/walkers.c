// Rows 22, 23: robots on their feet.
#include "rows.h"

static void run_humanoid(exam *e) {
    exam_not_yet(e, "in work");
}

static void run_crawl(exam *e) {
    exam_not_yet(e, "in work");
}

const exam_row exam_rows_robots[] = {
    {22, "humanoid standing and stepping", "sum of forces = weight; centre of pressure = ZMP of inverse dynamics", "",
     false, run_humanoid},
    {23, "quadruped crawling", "torque and 6-axis force against inverse dynamics, power balance",
     "ODE broke action = reaction by 4 N m", false, run_crawl},
    {0, NULL, NULL, NULL, false, NULL},
};
