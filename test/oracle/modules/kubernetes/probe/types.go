package main

import (
	"reflect"
	"strconv"
	"strings"
)

// goType is a struct: its fields in order, and how it travels.
type goType struct {
	Fields []field `json:"fields,omitempty"`
	// Opaque: it has a JSON form of its own, not that of its fields.
	Opaque bool `json:"opaque,omitempty"`
	// Element, for a named slice that is a message with one repeated field "items".
	Element string `json:"element,omitempty"`
}

type field struct {
	// Name in JSON; empty for an inlined struct.
	Name string `json:"name"`
	// Proto is the name in the struct's protobuf tag.
	Proto string `json:"proto,omitempty"`
	// Number in protobuf; 0 if the field does not travel there.
	Number int `json:"number,omitempty"`
	// Type, written as in Go: *int32, []T, map[string]T; structs by their OpenAPI name.
	Type string `json:"type"`
	// Always printed, even if zero.
	Always bool `json:"always,omitempty"`
	Inline bool `json:"inline,omitempty"`
	// Go: the type with the names Go has for it; a named list or map is followed by "=" and what it is.
	Go string `json:"go"`
}

func typeOf(object any) reflect.Type { return reflect.TypeOf(object).Elem() }

// nameOf is the name of a type in OpenAPI: k8s.io/api/apps/v1.Deployment is io.k8s.api.apps.v1.Deployment.
func nameOf(t reflect.Type) string {
	domain, path, _ := strings.Cut(t.PkgPath(), "/")
	labels := strings.Split(domain, ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// describe adds t and all it is made of.
func describe(t reflect.Type, types map[string]goType) {
	switch t.Kind() {
	case reflect.Pointer:
		describe(t.Elem(), types)
	case reflect.Map, reflect.Slice:
		if !isMessage(t) {
			describe(t.Elem(), types)
			return
		}
		if _, known := types[nameOf(t)]; !known {
			types[nameOf(t)] = goType{Element: expression(t.Elem())}
			describe(t.Elem(), types)
		}
	case reflect.Struct:
		name := nameOf(t)
		if _, known := types[name]; known || !strings.HasPrefix(name, "io.k8s.") {
			return
		}
		found := goType{Opaque: marshalsItself(t), Fields: []field{}}
		types[name] = found
		for i := range t.NumField() {
			f, ok := describeField(t.Field(i))
			if !ok {
				continue
			}
			found.Fields = append(found.Fields, f)
			describe(t.Field(i).Type, types)
		}
		types[name] = found
	}
}

func describeField(f reflect.StructField) (field, bool) {
	tag, hasTag := f.Tag.Lookup("json")
	number, proto := protobufOf(f)
	if tag == "-" && number == 0 || !f.IsExported() || !hasTag && number == 0 {
		return field{}, false
	}
	name, options, _ := strings.Cut(tag, ",")
	has := func(option string) bool {
		for _, o := range strings.Split(options, ",") {
			if o == option {
				return true
			}
		}
		return false
	}
	inline := has("inline") || f.Anonymous && name == ""
	if tag == "-" {
		name = ""
	}
	omits := has("omitempty") && f.Type.Kind() != reflect.Struct || has("omitzero")
	return field{
		Name: name, Proto: proto, Number: number, Type: expression(f.Type),
		Always: !omits && !inline && tag != "-", Inline: inline,
		Go: goName(f.Type),
	}, true
}

func protobufOf(f reflect.StructField) (number int, name string) {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0, ""
	}
	number, _ = strconv.Atoi(parts[1])
	for _, part := range parts {
		if value, ok := strings.CutPrefix(part, "name="); ok {
			name = value
		}
	}
	return number, name
}

func expression(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + expression(t.Elem())
	case reflect.Slice:
		if isMessage(t) {
			return nameOf(t)
		}
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + expression(t.Elem())
	case reflect.Map:
		return "map[" + expression(t.Key()) + "]" + expression(t.Elem())
	case reflect.Struct:
		return nameOf(t)
	default:
		return t.Kind().String()
	}
}

func goName(t reflect.Type) string {
	var inside string
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + goName(t.Elem())
	case reflect.Slice:
		inside = "[]" + goName(t.Elem())
	case reflect.Map:
		inside = "map[" + t.Key().String() + "]" + goName(t.Elem())
	default:
		return t.String()
	}
	if t.Name() == "" {
		return inside
	}
	return t.String() + "=" + inside
}

// isMessage: a named slice with generated marshalling travels as a message of its own.
func isMessage(t reflect.Type) bool {
	if t.Name() == "" {
		return false
	}
	_, value := t.MethodByName("MarshalToSizedBuffer")
	_, pointer := reflect.PointerTo(t).MethodByName("MarshalToSizedBuffer")
	return value || pointer
}

func marshalsItself(t reflect.Type) bool {
	_, value := t.MethodByName("MarshalJSON")
	_, pointer := reflect.PointerTo(t).MethodByName("MarshalJSON")
	return value || pointer
}
