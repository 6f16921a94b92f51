package main

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// encode turns the JSON of an object into the bytes a server sends for it.
func encode(scheme *runtime.Scheme, text json.RawMessage) []byte {
	object, gvk, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		fail(err)
	}
	object.GetObjectKind().SetGroupVersionKind(*gvk)
	bytes, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), object)
	if err != nil {
		fail(err)
	}
	return bytes
}

// filled is an object with something in every field.
type filled struct {
	Object   json.RawMessage `json:"object"`
	Protobuf []byte          `json:"protobuf"`
}

func fill(scheme *runtime.Scheme, gvk schema.GroupVersionKind) filled {
	object, err := scheme.New(gvk)
	if err != nil {
		fail(err)
	}
	(&filler{}).fill(reflect.ValueOf(object).Elem())
	object.GetObjectKind().SetGroupVersionKind(gvk)
	text, err := json.Marshal(object)
	if err != nil {
		fail(err)
	}
	bytes, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), object)
	if err != nil {
		fail(err)
	}
	return filled{Object: text, Protobuf: bytes}
}

// filler gives each scalar a value of its own, so that no two fields can be confused.
type filler struct {
	count int
	above []reflect.Type
}

func (f *filler) next() int {
	f.count++
	return f.count
}

func (f *filler) fill(value reflect.Value) {
	t := value.Type()
	if special, ok := f.special(t); ok {
		value.Set(reflect.ValueOf(special))
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if f.isInside(t.Elem()) {
			return
		}
		value.Set(reflect.New(t.Elem()))
		f.fill(value.Elem())
	case reflect.Struct:
		f.above = append(f.above, t)
		for i := range t.NumField() {
			if t.Field(i).IsExported() && t.Field(i).Tag.Get("json") != "-" {
				f.fill(value.Field(i))
			}
		}
		f.above = f.above[:len(f.above)-1]
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte{byte(f.next()), 0, 255})
			return
		}
		if f.isInside(t.Elem()) {
			return
		}
		value.Set(reflect.MakeSlice(t, 2, 2))
		f.fill(value.Index(0))
		f.fill(value.Index(1))
	case reflect.Map:
		if f.isInside(t.Elem()) {
			return
		}
		value.Set(reflect.MakeMap(t))
		for range 2 {
			inside := reflect.New(t.Elem()).Elem()
			f.fill(inside)
			value.SetMapIndex(reflect.ValueOf("k"+strconv.Itoa(f.next())).Convert(t.Key()), inside)
		}
	case reflect.String:
		value.SetString("s" + strconv.Itoa(f.next()))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		value.SetInt(int64(f.next()))
	case reflect.Uint8:
		value.SetUint(uint64(f.next()))
	case reflect.Float64:
		value.SetFloat(float64(f.next()) + 0.5)
	}
}

// isInside: a type that contains itself is entered once.
func (f *filler) isInside(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	for _, ancestor := range f.above {
		if ancestor == t {
			return true
		}
	}
	return false
}

// special: types whose fields are not what they show.
func (f *filler) special(t reflect.Type) (any, bool) {
	moment := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return metav1.NewTime(moment.Add(time.Duration(f.next()) * time.Second).Truncate(time.Second)), true
	case reflect.TypeFor[metav1.MicroTime]():
		return metav1.NewMicroTime(moment.Add(time.Duration(f.next()) * time.Second)), true
	case reflect.TypeFor[metav1.Duration]():
		return metav1.Duration{Duration: time.Duration(f.next()) * time.Second}, true
	case reflect.TypeFor[metav1.FieldsV1]():
		return metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`)}, true
	case reflect.TypeFor[resource.Quantity]():
		return *resource.NewMilliQuantity(int64(f.next()*500), resource.DecimalSI), true
	case reflect.TypeFor[intstr.IntOrString]():
		if n := f.next(); n%2 == 0 {
			return intstr.FromInt32(int32(n)), true
		}
		return intstr.FromString(strconv.Itoa(f.count) + "%"), true
	case reflect.TypeFor[runtime.RawExtension]():
		return runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.com/v1","kind":"Raw","n":` + strconv.Itoa(f.next()) + `}`)}, true
	case reflect.TypeFor[apiextensionsv1.JSON]():
		return apiextensionsv1.JSON{Raw: []byte(`{"n":` + strconv.Itoa(f.next()) + `}`)}, true
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():
		return apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: f.smallSchema()}, true
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():
		return apiextensionsv1.JSONSchemaPropsOrArray{Schema: f.smallSchema()}, true
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray]():
		return apiextensionsv1.JSONSchemaPropsOrStringArray{Property: []string{"s" + strconv.Itoa(f.next())}}, true
	}
	return nil, false
}

func (f *filler) smallSchema() *apiextensionsv1.JSONSchemaProps {
	return &apiextensionsv1.JSONSchemaProps{Type: "string", Pattern: "s" + strconv.Itoa(f.next())}
}
