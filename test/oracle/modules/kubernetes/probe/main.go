// Command probe asks the compiled Kubernetes types what their OpenAPI documents do not say.
//
// Standard input: JSON, the questions. Standard output: JSON, the answers.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane" // Registers every group.
)

type kind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type questions struct {
	Kinds []kind `json:"kinds"`
	// Enums: the values of a string field, by type and JSON name.
	Enums map[string]map[string][]string `json:"enums"`
	// Encode these objects in protobuf.
	Encode []json.RawMessage `json:"encode"`
	// Fill an object of each kind.
	Fill []kind `json:"fill"`
	// Decode these bodies as a server does.
	Decode []body `json:"decode"`
}

// answers is everything the probe finds out.
type answers struct {
	// Types by the name OpenAPI gives them.
	Types map[string]goType `json:"types"`
	// Kinds: the type behind each kind, in the order they were asked for.
	Kinds    []string    `json:"kinds"`
	Defaults []defaulted `json:"defaults"`
	// Places that were probed, by type: group/version/Kind and a path.
	Places map[string][]string `json:"places"`
	// Encoded, base64, in the order of the question.
	Encoded [][]byte `json:"encoded"`
	Filled  []filled `json:"filled"`
	// Internal: the structs that messages of validation show, by name.
	Internal map[string][]internalField `json:"internal"`
	// Decoded, in the order of the question.
	Decoded []decoded `json:"decoded"`
}

func main() {
	var asked questions
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	scheme := legacyscheme.Scheme
	apiextensions.Install(scheme)
	apiregistration.Install(scheme)

	found := answers{Types: map[string]goType{}, Places: map[string][]string{}}
	for _, k := range asked.Kinds {
		gvk := schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
		object, err := scheme.New(gvk)
		if err != nil {
			fail(err)
		}
		describe(typeOf(object), found.Types)
		found.Kinds = append(found.Kinds, nameOf(typeOf(object)))
		if list, err := scheme.New(gvk.GroupVersion().WithKind(k.Kind + "List")); err == nil {
			describe(typeOf(list), found.Types)
		}
		p := prober{scheme: scheme, gvk: gvk, enums: asked.Enums, places: found.Places}
		p.probeDefaults()
		found.Defaults = append(found.Defaults, p.found...)
	}
	for _, shared := range []any{
		&metav1.DeleteOptions{}, &metav1.Status{}, &metav1.WatchEvent{}, &metav1.Table{},
		&metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{}, &runtime.Unknown{},
		// What annotations of the first version hold of the second.
		&autoscalingv1.MetricSpec{}, &autoscalingv1.MetricStatus{}, &autoscalingv1.HorizontalPodAutoscalerCondition{},
	} {
		describe(typeOf(shared), found.Types)
	}
	for _, object := range asked.Encode {
		found.Encoded = append(found.Encoded, encode(scheme, object))
	}
	for _, k := range asked.Fill {
		found.Filled = append(found.Filled, fill(scheme, schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}))
	}
	found.Internal = describeInternal()
	for _, sent := range asked.Decode {
		found.Decoded = append(found.Decoded, decode(scheme, sent))
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "probe:", err)
	os.Exit(1)
}
