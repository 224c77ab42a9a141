package function

// boot is the program of a process, in Python. The first message has the modules and the file of the rule: the process need not see a file of either. What
// the rule prints goes where errors go.
const boot = `
import json, os, sys, types
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
requests = os.fdopen(os.dup(0), "rb")
os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
first = json.loads(requests.read(int.from_bytes(requests.read(4), "big")))
for name, text in first["modules"]:
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    exec(compile(text, name, "exec"), module.__dict__)
sys.modules["voltbus"].rule = sys.modules["voltbus.rule"]
sys.modules["voltbus._judging"].serve(requests, out, first["file"], first["source"], first["function"])
`
