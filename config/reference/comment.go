package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"voltbus/broker/setting"
	"voltbus/config"
	"voltbus/driver"
	judgesetting "voltbus/judge/setting"
	metersetting "voltbus/meter/setting"
	replicasetting "voltbus/replication/setting"
	sinksetting "voltbus/sink/setting"
	sourcesetting "voltbus/source/setting"
	database "voltbus/store/postgres/setting"
)

const module = "voltbus"

// comments holds the doc comments of types ("voltbus/config.Log") and of their fields
// ("voltbus/config.Log.MaxBytes").
type comments map[string]string

// readComments reads the sources of the configuration and the drivers, below the working directory.
func readComments(kinds []driver.Kind) (comments, error) {
	packages := []string{reflect.TypeFor[config.Config]().PkgPath(), reflect.TypeFor[setting.Section]().PkgPath(), reflect.TypeFor[metersetting.Section]().PkgPath(), reflect.TypeFor[database.TLS]().PkgPath(), reflect.TypeFor[replicasetting.Cluster]().PkgPath(), reflect.TypeFor[sinksetting.Sink]().PkgPath(), reflect.TypeFor[sourcesetting.Source]().PkgPath(), reflect.TypeFor[judgesetting.Rule]().PkgPath()}
	for _, k := range kinds {
		packages = append(packages, reflect.TypeOf(k.NewConfig()).Elem().PkgPath())
	}
	var r jsonschema.Reflector
	for _, p := range packages {
		dir, ok := strings.CutPrefix(p, module+"/")
		if !ok {
			continue
		}
		if err := r.AddGoComments(module, dir, jsonschema.WithFullComment()); err != nil {
			return nil, fmt.Errorf("read the comments of %s: %w", p, err)
		}
	}
	return r.CommentMap, nil
}

// of returns the comment of a field on one line, with the field's name in the file. Types have none: the
// purpose of a section is at its key.
func (c comments) of(t reflect.Type, field string) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	sf, ok := t.FieldByName(field)
	if !ok {
		return ""
	}
	text := strings.Join(strings.Fields(c[t.PkgPath()+"."+t.Name()+"."+field]), " ")
	if name, _ := yamlName(sf); name != "" {
		if rest, ok := strings.CutPrefix(text, field+" "); ok {
			text = name + " " + rest
		}
	}
	return text
}
