package trend

import (
	"context"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Target is what a trend log logs.
type Target struct {
	Object   encoding.ObjectID
	Property enum.Property
	Index    constructed.Index
}

// Find asks a device which of its properties its trend logs log. The properties of other devices, which some log too, are left
// out. Of two logs of one property the first counts.
func Find(ctx context.Context, remote client.Remote) (map[Target]encoding.ObjectID, error) {
	objects, err := remote.ReadArray(ctx, client.Property{Object: remote.ID(), Property: enum.PropertyObjectList})
	if err != nil {
		return nil, err
	}
	var logs []client.Property
	for _, v := range objects {
		if id := v.ObjectID(); v.Kind() == encoding.KindObjectID && id.Type == enum.TrendLog {
			logs = append(logs, client.Property{Object: id, Property: enum.PropertyLogDeviceObjectProperty})
		}
	}
	results, err := remote.Read(ctx, logs)
	if err != nil {
		return nil, err
	}
	found := make(map[Target]encoding.ObjectID, len(logs))
	for i := range results {
		if results[i].Err != nil {
			continue
		}
		refs, err := constructed.List(results[i].Value, constructed.ReadObjectPropertyReference)
		if err != nil || len(refs) != 1 || refs[0].Remote && refs[0].Device != remote.ID() {
			continue
		}
		t := Target{Object: refs[0].Object, Property: refs[0].Property, Index: refs[0].Index}
		if _, twice := found[t]; !twice {
			found[t] = logs[i].Object
		}
	}
	return found, nil
}
