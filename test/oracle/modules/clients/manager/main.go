// A manager of controller-runtime with leader election and one reconciler: a ConfigMap labelled "reconcile=yes" gets the
// annotation "keelson.dev/seen" with the length of its data, and an Event says so.
//
// It prints "started", "leading" and "reconciled namespace/name" as these things happen. The order "dump" on standard input is
// answered by every ConfigMap of its cache in the lease's namespace, a line of JSON each, and a line "end".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"keelson.dev/oracle/clients/elected"
)

const (
	name = "keelson-test-manager"
	seen = "keelson.dev/seen"
)

func main() {
	elected.Main(name, addReconciler)
}

func addReconciler(built manager.Manager, namespace string) error {
	reconciler := &reconciler{client: built.GetClient(), events: built.GetEventRecorder(name)}
	if err := ctrl.NewControllerManagedBy(built).For(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		return err
	}
	fmt.Println("started")
	go obey(built.GetCache(), namespace)
	return nil
}

func obey(cached client.Reader, namespace string) {
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var list corev1.ConfigMapList
		if err := cached.List(context.Background(), &list, client.InNamespace(namespace)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var text strings.Builder
		for _, object := range list.Items {
			object.Kind, object.APIVersion = "ConfigMap", "v1"
			line, err := json.Marshal(object)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			text.Write(append(line, '\n'))
		}
		// At once: what is reconciled meanwhile is told on lines of its own.
		fmt.Print(text.String() + "end\n")
	}
}

type reconciler struct {
	client client.Client
	events events.EventRecorder
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var object corev1.ConfigMap
	if err := r.client.Get(ctx, request.NamespacedName, &object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	size := strconv.Itoa(len(object.Data))
	if object.Labels["reconcile"] != "yes" || object.Annotations[seen] == size {
		return ctrl.Result{}, nil
	}
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[seen] = size
	if err := r.client.Update(ctx, &object); err != nil {
		return ctrl.Result{}, err
	}
	r.events.Eventf(&object, nil, corev1.EventTypeNormal, "Reconciled", "Count", "there are %s entries", size)
	fmt.Printf("reconciled %s\n", request.NamespacedName)
	return ctrl.Result{}, nil
}
