package main

import (
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
)

// internalRoots are the structs that validation shows in its messages, with those that clients send.
var internalRoots = [][2]any{
	{core.PodTemplateSpec{}, corev1.PodTemplateSpec{}},
	{core.PodSpec{}, corev1.PodSpec{}},
	{core.PodIP{}, corev1.PodIP{}},
	{core.HostIP{}, corev1.HostIP{}},
	{core.ServicePort{}, corev1.ServicePort{}},
	{core.Taint{}, corev1.Taint{}},
	{core.NodeAddress{}, corev1.NodeAddress{}},
	{core.NodeConfigSource{}, corev1.NodeConfigSource{}},
	{core.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{}},
	{core.PersistentVolumeSource{}, corev1.PersistentVolumeSource{}},
	{core.VolumeNodeAffinity{}, corev1.VolumeNodeAffinity{}},
	{core.ScopeSelector{}, corev1.ScopeSelector{}},
	{apps.DeploymentStrategy{}, appsv1.DeploymentStrategy{}},
	{apps.DaemonSetUpdateStrategy{}, appsv1.DaemonSetUpdateStrategy{}},
	{apps.StatefulSetUpdateStrategy{}, appsv1.StatefulSetUpdateStrategy{}},
	{batch.PodFailurePolicy{}, batchv1.PodFailurePolicy{}},
	{batch.SuccessPolicy{}, batchv1.SuccessPolicy{}},
	{batch.UncountedTerminatedPods{}, batchv1.UncountedTerminatedPods{}},
}

// internalField is a field as encoding/json prints it, and the member that clients send for it: empty if there is none
// of that name in the same struct, `metadata.labels` for what stands one deeper.
type internalField struct {
	Printed string `json:"printed"`
	Member  string `json:"member"`
	Type    string `json:"type"`
	// Omitted if it is zero.
	Omits bool `json:"omits,omitempty"`
}

func describeInternal() map[string][]internalField {
	found := map[string][]internalField{}
	for _, root := range internalRoots {
		walkInternal(reflect.TypeOf(root[0]), reflect.TypeOf(root[1]), found)
	}
	return found
}

func walkInternal(internal, external reflect.Type, found map[string][]internalField) {
	for internal.Kind() == reflect.Pointer || internal.Kind() == reflect.Slice || internal.Kind() == reflect.Map {
		if internal.Kind() == reflect.Slice && internal.Elem().Kind() == reflect.Uint8 {
			return
		}
		internal = internal.Elem()
		if external != nil {
			external = external.Elem()
		}
	}
	if internal.Kind() != reflect.Struct || marshalsItself(internal) {
		return
	}
	name := internalName(internal)
	if _, known := found[name]; known {
		return
	}
	found[name] = nil
	found[name] = fieldsOf(internal, external, found)
}

func fieldsOf(internal, external reflect.Type, found map[string][]internalField) []internalField {
	var fields []internalField
	for i := range internal.NumField() {
		f := internal.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		var same reflect.Type
		member := ""
		if external != nil {
			if e, ok := external.FieldByName(f.Name); ok {
				same = e.Type
				member, _, _ = strings.Cut(e.Tag.Get("json"), ",")
			}
		}
		if f.Anonymous && tag == "" {
			part := external
			if same != nil {
				part = same
			}
			for _, inner := range fieldsOf(f.Type, part, found) {
				if member != "" && inner.Member != "" {
					inner.Member = member + "." + inner.Member
				}
				fields = append(fields, inner)
			}
			continue
		}
		printed := f.Name
		if tag != "" {
			printed = tag
		}
		fields = append(fields, internalField{
			Printed: printed, Member: member, Type: internalType(f.Type), Omits: strings.Contains(options, "omit"),
		})
		if same != nil && same.Kind() == f.Type.Kind() {
			walkInternal(f.Type, same, found)
		} else {
			walkInternal(f.Type, nil, found)
		}
	}
	return fields
}

func internalName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	last := parts[len(parts)-1]
	if last == "v1" {
		last = parts[len(parts)-2]
	}
	return last + "." + t.Name()
}

func internalType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + internalType(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + internalType(t.Elem())
	case reflect.Map:
		return "{}" + internalType(t.Elem())
	case reflect.Struct:
		return internalName(t)
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	default:
		return "number"
	}
}
