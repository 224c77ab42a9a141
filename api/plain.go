package api

import (
	"encoding/json"
	"maps"

	"voltbus/fault"
)

// plainly returns the arguments of a method of package service: what the parameters and the body say.
func (s *server) plainly(r *request, rt *route, args map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if body, given := args[bodyArgument]; given {
		var fields map[string]json.RawMessage
		if json.Unmarshal(body, &fields) != nil {
			return nil, fault.E("api.readJSON", fault.Invalid, "body", errObject)
		}
		delete(args, bodyArgument)
		maps.Copy(args, fields)
	}
	for name, text := range args {
		if string(text) == `""` { // as a parameter without a text, which is none
			delete(args, name)
		}
	}
	if rt.remote != commandFar {
		return args, nil
	}
	if err := keyed(r, args); err != nil {
		return nil, err
	}
	return args, mayLevel(r.user, args)
}

// keyed gives commands for another node the identifiers that they would have here.
func keyed(r *request, args map[string]json.RawMessage) error {
	key, err := commandKey(r)
	if err != nil || key == "" {
		return err
	}
	list, err := commandsOf(args)
	if err != nil {
		return err
	}
	for i, c := range list {
		if c["id"] == nil {
			if c["id"], err = json.Marshal(keyOf(key, i, len(list))); err != nil {
				return fault.E("api.command", fault.Invalid, headerKey, err)
			}
		}
	}
	if args["commands"], err = json.Marshal(list); err != nil {
		return fault.E("api.command", fault.Invalid, "commands", err)
	}
	return nil
}
