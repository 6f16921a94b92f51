package main

import (
	"bytes"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// body is the text of an object, and the kind it is sent as.
type body struct {
	Kind kind   `json:"kind"`
	Text string `json:"text"`
}

// decoded is what a server makes of a body.
type decoded struct {
	// Object as it is printed after decoding alone.
	Object json.RawMessage `json:"object,omitempty"`
	// Stored: with defaults, stored and read again.
	Stored json.RawMessage `json:"stored,omitempty"`
	// Strict: what a strict decoder reports, each as in a message.
	Strict []string `json:"strict,omitempty"`
	// Error instead of all that.
	Error string `json:"error,omitempty"`
}

// decode does to a body what the handler of a creation does before it admits the object.
func decode(scheme *runtime.Scheme, sent body) decoded {
	factory := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(factory.SupportedMediaTypes(), runtime.ContentTypeJSON)
	gvk := schema.GroupVersionKind{Group: sent.Kind.Group, Version: sent.Kind.Version, Kind: sent.Kind.Kind}
	var found decoded

	plain, _, err := info.StrictSerializer.Decode([]byte(sent.Text), &gvk, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, one := range strict.Errors() {
			found.Strict = append(found.Strict, one.Error())
		}
	} else if err != nil {
		return decoded{Error: err.Error()}
	}
	if found.Object, err = json.Marshal(plain); err != nil {
		return decoded{Error: err.Error()}
	}

	hub := schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal}
	into, err := scheme.New(hub.WithKind(gvk.Kind))
	if err != nil {
		fail(err)
	}
	internal, _, err := factory.DecoderToVersion(info.Serializer, hub).Decode([]byte(sent.Text), &gvk, into)
	if err != nil {
		return decoded{Error: err.Error()}
	}
	if internal, err = stored(factory, gvk, internal); err != nil {
		return decoded{Error: err.Error()}
	}
	var text bytes.Buffer
	if err := factory.EncoderForVersion(info.Serializer, gvk.GroupVersion()).Encode(internal, &text); err != nil {
		return decoded{Error: err.Error()}
	}
	found.Stored = text.Bytes()
	return found
}

// stored writes an object as etcd gets it, and reads it again.
func stored(factory serializer.CodecFactory, gvk schema.GroupVersionKind, object runtime.Object) (runtime.Object, error) {
	format := runtime.ContentTypeProtobuf
	if gvk.Group == "apiextensions.k8s.io" || gvk.Group == "apiregistration.k8s.io" {
		format = runtime.ContentTypeJSON
	}
	info, _ := runtime.SerializerInfoForMediaType(factory.SupportedMediaTypes(), format)
	version := gvk.GroupVersion()
	if gvk.Kind == "HorizontalPodAutoscaler" {
		version.Version = "v2" // Both versions are stored as this one.
	}
	bytes, err := runtime.Encode(factory.EncoderForVersion(info.Serializer, version), object)
	if err != nil {
		return nil, err
	}
	hub := schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal}
	return runtime.Decode(factory.DecoderToVersion(info.Serializer, hub), bytes)
}
