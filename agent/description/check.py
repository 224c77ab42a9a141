"""Says, as JSON, what an installed package offers as agents, and where its sources are wrong."""

import importlib.metadata as metadata
import json
import sys

skip = set(sys.argv[1:])
entries, syntax = [], []
for dist in metadata.distributions():
    found = [e for e in dist.entry_points if e.group == "voltbus.agent"]
    if not found or dist.metadata["Name"] in skip:
        continue
    entries += [{"name": e.name, "entry": e.value, "release": dist.version} for e in found]
    for file in dist.files or []:
        if file.suffix != ".py":
            continue
        try:
            compile(file.locate().read_bytes(), str(file), "exec")
        except SyntaxError as e:
            syntax.append(f"{file}:{e.lineno}: {e.msg}")
        except (OSError, ValueError) as e:
            syntax.append(f"{file}: {e}")
json.dump({"entries": entries, "syntax": syntax}, sys.stdout)
