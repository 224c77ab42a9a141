/* The zone as an FMI 2.0 unit for co-simulation. */
#include "zone.h"

typedef unsigned int VR;
typedef int Status;

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
Status fmi2SetDebugLogging(void *c, int on, size_t n, const char *const k[]) { return 0; }
void *fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const void *callbacks, int visible, int log) { return zone_new(); }
void fmi2FreeInstance(void *c) { free(c); }
Status fmi2SetupExperiment(void *c, int t, double tol, double begin, int s, double stop) { return 0; }
Status fmi2EnterInitializationMode(void *c) { return 0; }
Status fmi2ExitInitializationMode(void *c) { zone_look(c); return 0; }
Status fmi2Terminate(void *c) { return 0; }
Status fmi2Reset(void *c) { return 3; }
Status fmi2GetReal(void *c, const VR vr[], size_t n, double v[]) {
  for (size_t i = 0; i < n; i++) v[i] = ((Zone *)c)->v[vr[i]];
  return 0;
}
Status fmi2SetReal(void *c, const VR vr[], size_t n, const double v[]) {
  for (size_t i = 0; i < n; i++) ((Zone *)c)->v[vr[i]] = v[i];
  return 0;
}
Status fmi2GetInteger(void *c, const VR vr[], size_t n, int v[]) {
  for (size_t i = 0; i < n; i++) v[i] = (int)((Zone *)c)->v[vr[i]];
  return 0;
}
Status fmi2SetInteger(void *c, const VR vr[], size_t n, const int v[]) {
  for (size_t i = 0; i < n; i++) ((Zone *)c)->v[vr[i]] = v[i];
  return 0;
}
Status fmi2GetBoolean(void *c, const VR vr[], size_t n, int v[]) { return fmi2GetInteger(c, vr, n, v); }
Status fmi2SetBoolean(void *c, const VR vr[], size_t n, const int v[]) { return fmi2SetInteger(c, vr, n, v); }
Status fmi2GetString(void *c, const VR vr[], size_t n, const char *v[]) { return 3; }
Status fmi2SetString(void *c, const VR vr[], size_t n, const char *const v[]) { return 3; }
Status fmi2GetFMUstate(void *c, void **s) {
  if (!*s) *s = malloc(sizeof(Zone));
  memcpy(*s, c, sizeof(Zone));
  return 0;
}
Status fmi2SetFMUstate(void *c, void *s) { memcpy(c, s, sizeof(Zone)); return 0; }
Status fmi2FreeFMUstate(void *c, void **s) { free(*s); *s = NULL; return 0; }
Status fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { *n = sizeof(Zone); return 0; }
Status fmi2SerializeFMUstate(void *c, void *s, char b[], size_t n) { memcpy(b, s, n); return 0; }
Status fmi2DeSerializeFMUstate(void *c, const char b[], size_t n, void **s) {
  *s = malloc(sizeof(Zone));
  memcpy(*s, b, n);
  return 0;
}
Status fmi2GetDirectionalDerivative(void *c, const VR a[], size_t n, const VR b[], size_t m, const double d[], double e[]) { return 3; }
Status fmi2SetRealInputDerivatives(void *c, const VR vr[], size_t n, const int o[], const double v[]) { return 3; }
Status fmi2GetRealOutputDerivatives(void *c, const VR vr[], size_t n, const int o[], double v[]) { return 3; }
Status fmi2DoStep(void *c, double begin, double step, int no) { return zone_step(c, begin, step); }
Status fmi2CancelStep(void *c) { return 3; }
Status fmi2GetStatus(void *c, int k, int *v) { return 3; }
Status fmi2GetRealStatus(void *c, int k, double *v) { return 3; }
Status fmi2GetIntegerStatus(void *c, int k, int *v) { return 3; }
Status fmi2GetBooleanStatus(void *c, int k, int *v) { return 3; }
Status fmi2GetStringStatus(void *c, int k, const char **v) { return 3; }
