// A manager of controller-runtime with leader election and one reconciler: a ConfigMap labelled "reconcile=yes" gets the
// annotation "keelson.dev/seen" with the length of its data, and an Event says so.
//
// It prints "started", "leading" and "reconciled namespace/name" as these things happen.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const seen = "keelson.dev/seen"

func main() {
	kubeconfig := flag.String("cluster", "", "a kubeconfig: where the cluster is")
	namespace := flag.String("namespace", "default", "where the lease is")
	flag.Parse()
	if err := run(*kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace string) error {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	lease, renew, retry := 4*time.Second, 3*time.Second, 500*time.Millisecond
	built, err := manager.New(config, manager.Options{
		LeaderElection:                true,
		LeaderElectionID:              "keelson-test-manager",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	reconciler := &reconciler{client: built.GetClient(), events: built.GetEventRecorder("keelson-test-manager")}
	if err := ctrl.NewControllerManagedBy(built).For(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		return err
	}
	fmt.Println("started")
	go func() {
		<-built.Elected()
		fmt.Println("leading")
	}()
	return built.Start(ctrl.SetupSignalHandler())
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
