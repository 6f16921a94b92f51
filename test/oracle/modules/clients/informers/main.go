// Informers of client-go over the resources named as arguments, "apps/v1/deployments" or "v1/configmaps".
//
// Orders come on standard input, a word to a line, and each answer ends with a line "end":
//
//	dump    every cached object as a line of JSON, by resource, namespace and name
//	log     what the handlers were told since the last time: "add v1/configmaps ns/name 17"
//	quit    ends the program
//
// "synced" is printed once all caches are filled. Whether an informer lists and watches, or opens one WatchList stream, is
// client-go's own switch: the environment variable KUBE_FEATURE_WatchListClient.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "where the cluster is")
	namespace := flag.String("namespace", "", "only this namespace")
	selector := flag.String("selector", "", "only objects with these labels")
	typed := flag.Bool("typed", false, "compiled types over protobuf instead of unstructured objects over JSON")
	flag.Parse()
	if err := run(*kubeconfig, *namespace, *selector, *typed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type watched struct {
	name     string
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer
}

func run(kubeconfig, namespace, selector string, typed bool, names []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, -1
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	narrow := func(options *metav1.ListOptions) { options.LabelSelector = selector }

	var all []watched
	if typed {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithNamespace(namespace), informers.WithTweakListOptions(narrow))
		for _, name := range names {
			resource := parse(name)
			informer, err := factory.ForResource(resource)
			if err != nil {
				return err
			}
			all = append(all, watched{name, resource, informer.Informer()})
		}
	} else {
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, narrow)
		for _, name := range names {
			resource := parse(name)
			all = append(all, watched{name, resource, factory.ForResource(resource).Informer()})
		}
	}

	log := &log{}
	for _, one := range all {
		if _, err := one.informer.AddEventHandler(log.handler(one.name)); err != nil {
			return err
		}
		go one.informer.Run(ctx.Done())
	}
	for _, one := range all {
		if !cache.WaitForCacheSync(ctx.Done(), one.informer.HasSynced) {
			return fmt.Errorf("%s did not sync", one.name)
		}
	}
	fmt.Println("synced")
	return obey(all, log)
}

func obey(all []watched, log *log) error {
	output := bufio.NewWriter(os.Stdout)
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		switch orders.Text() {
		case "dump":
			for _, one := range all {
				if err := dump(output, one); err != nil {
					return err
				}
			}
		case "log":
			for _, line := range log.take() {
				fmt.Fprintln(output, line)
			}
		case "quit":
			return nil
		default:
			return fmt.Errorf("no such order: %q", orders.Text())
		}
		fmt.Fprintln(output, "end")
		if err := output.Flush(); err != nil {
			return err
		}
	}
	return orders.Err()
}

func dump(output *bufio.Writer, one watched) error {
	keys := one.informer.GetStore().ListKeys()
	slices.Sort(keys)
	for _, key := range keys {
		object, exists, err := one.informer.GetStore().GetByKey(key)
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		// Compiled types do not know their own kind once they are decoded.
		if typed, ok := object.(runtime.Object); ok && typed.GetObjectKind().GroupVersionKind().Empty() {
			kinds, _, err := scheme.Scheme.ObjectKinds(typed)
			if err != nil {
				return err
			}
			typed = typed.DeepCopyObject()
			typed.GetObjectKind().SetGroupVersionKind(kinds[0])
			object = typed
		}
		line, err := json.Marshal(object)
		if err != nil {
			return err
		}
		if _, err := output.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

type log struct {
	mutex sync.Mutex
	lines []string
}

func (log *log) handler(name string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { log.note("add", name, object) },
		UpdateFunc: func(_, object any) { log.note("update", name, object) },
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				log.note("lost", name, tombstone.Obj)
				return
			}
			log.note("delete", name, object)
		},
	}
}

func (log *log) note(what, name string, object any) {
	metadata, ok := object.(metav1.Object)
	if !ok {
		return
	}
	key := cache.NewObjectName(metadata.GetNamespace(), metadata.GetName())
	log.mutex.Lock()
	defer log.mutex.Unlock()
	log.lines = append(log.lines, fmt.Sprintf("%s %s %s %s", what, name, key, metadata.GetResourceVersion()))
}

func (log *log) take() []string {
	// What is on its way from the cache to the handlers arrives within moments.
	time.Sleep(50 * time.Millisecond)
	log.mutex.Lock()
	defer log.mutex.Unlock()
	lines := log.lines
	log.lines = nil
	return lines
}

func parse(name string) schema.GroupVersionResource {
	parts := strings.Split(name, "/")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	if len(parts) != 3 {
		fmt.Fprintf(os.Stderr, "%q is not group/version/resource\n", name)
		os.Exit(2)
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}
