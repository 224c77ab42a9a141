/* A zone of one heat capacity: C dT/dt = (To - T)/R - on * heat. Time in s, temperatures in degrees Celsius. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTDOOR, ON, TEMP, POWER, CAPACITY, RESISTANCE, FAULT, VARIABLES };

typedef struct {
  double v[VARIABLES];
} Zone;

static void zone_look(Zone *z) { z->v[POWER] = z->v[ON] * 5; }

static Zone *zone_new(void) {
  Zone *z = calloc(1, sizeof *z);
  z->v[OUTDOOR] = 30, z->v[TEMP] = 22, z->v[CAPACITY] = 2, z->v[RESISTANCE] = 2;
  return z;
}

/* The parameter FAULT: 1 crashes, 2 diverges, 3 fails, each an hour after the time `begin`. */
static int zone_step(Zone *z, double begin, double step) {
  static double first = -1;
  if (first < 0) first = begin;
  puts("a unit prints what it likes");
  if (begin - first >= 3600) {
    if (z->v[FAULT] == 1) abort();
    if (z->v[FAULT] == 2) z->v[TEMP] = NAN;
    if (z->v[FAULT] == 3) return 3;
  }
  int n = (int)ceil(step);
  for (int i = 0; i < n; i++)
    z->v[TEMP] += step / n / 3600 * ((z->v[OUTDOOR] - z->v[TEMP]) / z->v[RESISTANCE] - z->v[ON] * 12.5) / z->v[CAPACITY];
  zone_look(z);
  return 0;
}
