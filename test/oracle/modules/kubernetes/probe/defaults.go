package main

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaulted says what defaulting does to a struct at one place of one kind.
type defaulted struct {
	Kind kind `json:"kind"`
	// Path in JSON names; "[]" is an element of a list, "{}" a value of a map.
	Path string `json:"path"`
	// Type of the struct at Path.
	Type string `json:"type"`
	// Added to it if it is empty. Structs that are always there count for themselves, not here.
	Added map[string]any `json:"added,omitempty"`
	// When one field is set, and the outcome is not what Added says.
	When []exception `json:"when,omitempty"`
}

type exception struct {
	Field string `json:"field"`
	Value any    `json:"value"`
	// Added instead, apart from the field itself; null for what is not added now.
	Added map[string]any `json:"added"`
}

// step leads from a struct to one inside it.
type step struct {
	index int // Of the field.
	name  string
}

type prober struct {
	scheme *runtime.Scheme
	gvk    schema.GroupVersionKind
	// enums: the values of a string field, by type and JSON name.
	enums  map[string]map[string][]string
	found  []defaulted
	places map[string][]string
}

// probeDefaults puts one empty struct into an otherwise empty object, at each place there is for
// one, and looks what defaulting makes of it; then sets its fields, one at a time, and looks again.
func (p *prober) probeDefaults() {
	root, _ := p.scheme.New(p.gvk)
	p.walk(typeOf(root), nil, nil)
}

func (p *prober) walk(t reflect.Type, steps []step, above []reflect.Type) {
	for _, ancestor := range above {
		if ancestor == t {
			return // It contains itself; one turn says it all.
		}
	}
	inlined := len(steps) > 0 && steps[len(steps)-1].name == ""
	if !inlined {
		p.probePlace(t, steps)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := structInside(f.Type)
		if inner == nil || !f.IsExported() || marshalsItself(inner) || name == "-" || name == "metadata" {
			continue
		}
		p.walk(inner, append(steps[:len(steps):len(steps)], step{i, name}), append(above[:len(above):len(above)], t))
	}
}

func (p *prober) probePlace(t reflect.Type, steps []step) {
	ignored := map[string]bool{}
	samples := map[string][]reflect.Value{}
	p.samplesOf(t, nameOf(t), ignored, samples)

	place := defaulted{
		Kind: kind{p.gvk.Group, p.gvk.Version, p.gvk.Kind}, Path: p.pathOf(steps), Type: nameOf(t),
		Added: p.addedAt(steps, ignored, "", reflect.Value{}),
	}
	p.places[place.Type] = append(p.places[place.Type], p.gvk.Group+"/"+p.gvk.Version+"/"+p.gvk.Kind+place.Path)
	for name, values := range samples {
		for _, value := range values {
			added := p.addedAt(steps, ignored, name, value)
			difference := map[string]any{}
			for field, now := range added {
				if field != name && !reflect.DeepEqual(now, place.Added[field]) {
					difference[field] = now
				}
			}
			for field := range place.Added {
				if _, still := added[field]; !still && field != name {
					difference[field] = nil
				}
			}
			if len(difference) > 0 {
				place.When = append(place.When, exception{Field: name, Value: value.Interface(), Added: difference})
			}
		}
	}
	if len(place.Added) > 0 || len(place.When) > 0 {
		p.found = append(p.found, place)
	}
}

// samplesOf collects values to try for each field, and the names of the structs that are always there.
func (p *prober) samplesOf(t reflect.Type, owner string, ignored map[string]bool, samples map[string][]reflect.Value) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-" || name == "metadata":
		case name == "" && f.Type.Kind() == reflect.Struct:
			p.samplesOf(f.Type, owner, ignored, samples)
		case name == "":
		case f.Type.Kind() == reflect.Struct && !marshalsItself(f.Type):
			ignored[name] = true
		default:
			samples[name] = p.valuesFor(f.Type, p.enums[owner][name])
		}
	}
}

func (p *prober) valuesFor(t reflect.Type, enum []string) []reflect.Value {
	var values []reflect.Value
	add := func(value any) { values = append(values, reflect.ValueOf(value).Convert(t)) }
	switch t.Kind() {
	case reflect.Pointer:
		for _, value := range p.valuesFor(t.Elem(), enum) {
			pointer := reflect.New(t.Elem())
			pointer.Elem().Set(value)
			values = append(values, pointer)
		}
	case reflect.String:
		if len(enum) == 0 {
			enum = []string{"x"}
		}
		for _, value := range enum {
			add(value)
		}
	case reflect.Bool:
		add(true)
	case reflect.Int32, reflect.Int64:
		add(1)
	case reflect.Slice:
		values = append(values, reflect.MakeSlice(t, 1, 1))
	case reflect.Struct:
		switch t {
		case reflect.TypeFor[resource.Quantity]():
			add(resource.MustParse("1"))
		case reflect.TypeFor[intstr.IntOrString]():
			add(intstr.FromInt32(1))
			add(intstr.FromString("x"))
		default:
			values = append(values, reflect.New(t).Elem())
		}
	case reflect.Map:
		for _, value := range p.valuesFor(t.Elem(), nil) {
			one := reflect.MakeMap(t)
			one.SetMapIndex(reflect.ValueOf("x").Convert(t.Key()), value)
			values = append(values, one)
			break
		}
	}
	return values
}

// addedAt returns what defaulting changes in the struct at the end of steps, its field set if named.
func (p *prober) addedAt(steps []step, ignored map[string]bool, field string, value reflect.Value) map[string]any {
	object, _ := p.scheme.New(p.gvk)
	place := follow(object, steps)
	if field != "" {
		fieldNamed(place, field).Set(copyOf(value))
	}
	was := jsonOf(place)
	p.scheme.Default(object)
	is := jsonOf(follow(object, steps))
	for name := range is {
		if ignored[name] || reflect.DeepEqual(is[name], was[name]) {
			delete(is, name)
		}
	}
	return is
}

// fieldNamed finds a field by its JSON name, in inlined structs too.
func fieldNamed(value reflect.Value, name string) reflect.Value {
	for i := range value.NumField() {
		f := value.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return value.Field(i)
		}
		if tag == "" && f.Type.Kind() == reflect.Struct {
			if inside := fieldNamed(value.Field(i), name); inside.IsValid() {
				return inside
			}
		}
	}
	return reflect.Value{}
}

// copyOf, because defaulting writes into what it is given.
func copyOf(value reflect.Value) reflect.Value {
	text, _ := json.Marshal(value.Interface())
	fresh := reflect.New(value.Type())
	if json.Unmarshal(text, fresh.Interface()) != nil || value.Kind() == reflect.Slice {
		fresh.Elem().Set(reflect.MakeSlice(value.Type(), value.Len(), value.Len()))
	}
	return fresh.Elem()
}

func structInside(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || !strings.HasPrefix(t.PkgPath(), "k8s.io/") {
		return nil
	}
	return t
}

// follow goes to the struct at the end of steps, making what is missing on the way.
func follow(object runtime.Object, steps []step) reflect.Value {
	value := reflect.ValueOf(object).Elem()
	for _, s := range steps {
		value = enter(value.Field(s.index))
	}
	return value
}

func enter(value reflect.Value) reflect.Value {
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			value.Set(reflect.New(value.Type().Elem()))
		}
		return enter(value.Elem())
	case reflect.Slice:
		if value.Len() == 0 {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		}
		return enter(value.Index(0))
	case reflect.Map:
		if value.Len() == 0 {
			value.Set(reflect.MakeMap(value.Type()))
			value.SetMapIndex(reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem())
		}
		// A copy: what is in a map cannot be entered. Defaults set on it are seen all the same,
		// because it is followed again afterwards.
		inside := reflect.New(value.Type().Elem()).Elem()
		inside.Set(value.MapIndex(value.MapKeys()[0]))
		return enter(inside)
	default:
		return value
	}
}

func jsonOf(value reflect.Value) map[string]any {
	text, err := json.Marshal(value.Interface())
	if err != nil {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	return fields
}

func (p *prober) pathOf(steps []step) string {
	var path strings.Builder
	root, _ := p.scheme.New(p.gvk)
	t := typeOf(root)
	for _, s := range steps {
		f := t.Field(s.index)
		if s.name != "" {
			path.WriteString("." + s.name)
		}
		for t = f.Type; t.Kind() != reflect.Struct; t = t.Elem() {
			switch t.Kind() {
			case reflect.Slice:
				path.WriteString("[]")
			case reflect.Map:
				path.WriteString("{}")
			}
		}
	}
	return path.String()
}
