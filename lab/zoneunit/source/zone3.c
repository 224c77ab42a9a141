/* The zone as an FMI 3.0 unit for co-simulation, which keeps no state for others. */
#include <stdbool.h>
#include <stdint.h>

#include "zone.h"

typedef uint32_t VR;
typedef int Status;

const char *fmi3GetVersion(void) { return "3.0"; }
Status fmi3SetDebugLogging(void *c, bool on, size_t n, const char *const k[]) { return 0; }
void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *where, bool visible, bool log, bool events, bool early, const VR vr[], size_t n,
                                  void *env, void *logger, void *update) {
  return zone_new();
}
void fmi3FreeInstance(void *c) { free(c); }
Status fmi3EnterInitializationMode(void *c, bool t, double tol, double begin, bool s, double stop) { return 0; }
Status fmi3ExitInitializationMode(void *c) { zone_look(c); return 0; }
Status fmi3Terminate(void *c) { return 0; }
Status fmi3GetFloat64(void *c, const VR vr[], size_t n, double v[], size_t m) {
  for (size_t i = 0; i < n; i++) v[i] = ((Zone *)c)->v[vr[i]];
  return 0;
}
Status fmi3SetFloat64(void *c, const VR vr[], size_t n, const double v[], size_t m) {
  for (size_t i = 0; i < n; i++) ((Zone *)c)->v[vr[i]] = v[i];
  return 0;
}
Status fmi3GetBoolean(void *c, const VR vr[], size_t n, bool v[], size_t m) {
  for (size_t i = 0; i < n; i++) v[i] = ((Zone *)c)->v[vr[i]] != 0;
  return 0;
}
Status fmi3SetBoolean(void *c, const VR vr[], size_t n, const bool v[], size_t m) {
  for (size_t i = 0; i < n; i++) ((Zone *)c)->v[vr[i]] = v[i];
  return 0;
}
Status fmi3SetInt32(void *c, const VR vr[], size_t n, const int32_t v[], size_t m) {
  for (size_t i = 0; i < n; i++) ((Zone *)c)->v[vr[i]] = v[i];
  return 0;
}
Status fmi3DoStep(void *c, double begin, double step, bool no, bool *event, bool *end, bool *early, double *last) {
  *event = *end = *early = false;
  *last = begin + step;
  return zone_step(c, begin, step);
}

/* A library has all functions, also those that this unit does not support. */
#define NONE(f) \
  Status f(void) { return 3; }
NONE(fmi3ActivateModelPartition)
NONE(fmi3CompletedIntegratorStep)
NONE(fmi3DeserializeFMUState)
NONE(fmi3EnterConfigurationMode)
NONE(fmi3EnterContinuousTimeMode)
NONE(fmi3EnterEventMode)
NONE(fmi3EnterStepMode)
NONE(fmi3EvaluateDiscreteStates)
NONE(fmi3ExitConfigurationMode)
NONE(fmi3FreeFMUState)
NONE(fmi3GetAdjointDerivative)
NONE(fmi3GetBinary)
NONE(fmi3GetClock)
NONE(fmi3GetContinuousStateDerivatives)
NONE(fmi3GetContinuousStates)
NONE(fmi3GetDirectionalDerivative)
NONE(fmi3GetEventIndicators)
NONE(fmi3GetFMUState)
NONE(fmi3GetFloat32)
NONE(fmi3GetInt16)
NONE(fmi3GetInt32)
NONE(fmi3GetInt64)
NONE(fmi3GetInt8)
NONE(fmi3GetIntervalDecimal)
NONE(fmi3GetIntervalFraction)
NONE(fmi3GetNominalsOfContinuousStates)
NONE(fmi3GetNumberOfContinuousStates)
NONE(fmi3GetNumberOfEventIndicators)
NONE(fmi3GetNumberOfVariableDependencies)
NONE(fmi3GetOutputDerivatives)
NONE(fmi3GetShiftDecimal)
NONE(fmi3GetShiftFraction)
NONE(fmi3GetString)
NONE(fmi3GetUInt16)
NONE(fmi3GetUInt32)
NONE(fmi3GetUInt64)
NONE(fmi3GetUInt8)
NONE(fmi3GetVariableDependencies)
NONE(fmi3InstantiateModelExchange)
NONE(fmi3InstantiateScheduledExecution)
NONE(fmi3Reset)
NONE(fmi3SerializeFMUState)
NONE(fmi3SerializedFMUStateSize)
NONE(fmi3SetBinary)
NONE(fmi3SetClock)
NONE(fmi3SetContinuousStates)
NONE(fmi3SetFMUState)
NONE(fmi3SetFloat32)
NONE(fmi3SetInt16)
NONE(fmi3SetInt64)
NONE(fmi3SetInt8)
NONE(fmi3SetIntervalDecimal)
NONE(fmi3SetIntervalFraction)
NONE(fmi3SetShiftDecimal)
NONE(fmi3SetShiftFraction)
NONE(fmi3SetString)
NONE(fmi3SetTime)
NONE(fmi3SetUInt16)
NONE(fmi3SetUInt32)
NONE(fmi3SetUInt64)
NONE(fmi3SetUInt8)
NONE(fmi3UpdateDiscreteStates)
