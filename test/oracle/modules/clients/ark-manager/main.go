// A manager of controller-runtime for Models, Agents and Queries, as a team that has them as CRDs would write it, with leader
// election. It knows nothing of who serves them.
//
// A Model becomes available, an Agent when its Model is. A Query gets a finalizer, its Agent as owner and a ConfigMap that it owns,
// and is done when its Agent is available; when it goes, so does the ConfigMap, and then the finalizer.
//
// It prints "leading" when it leads.
package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"keelson.dev/oracle/clients/elected"
)

const finalizer = "keelson.dev/answer"

func main() {
	elected.Main("ark-test-manager", addReconcilers)
}

func addReconcilers(built manager.Manager, _ string) error {
	r := &reconcilers{client: built.GetClient(), live: built.GetAPIReader()}
	if err := ctrl.NewControllerManagedBy(built).Named("models").For(empty("Model")).
		Complete(reconcile.Func(r.model)); err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(built).Named("agents").For(empty("Agent")).
		Watches(empty("Model"), r.naming("AgentList", "spec", "modelRef", "name")).
		Complete(reconcile.Func(r.agent)); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(built).Named("queries").For(empty("Query")).
		Owns(&corev1.ConfigMap{}).
		Watches(empty("Agent"), r.naming("QueryList", "spec", "target", "name")).
		Complete(reconcile.Func(r.query))
}

func empty(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "ark.mckinsey.com", Version: "v1alpha1", Kind: kind})
	return object
}

type reconcilers struct {
	client client.Client
	live   client.Reader
}

// naming enqueues whoever names the object in a field.
func (r *reconcilers) naming(listKind string, path ...string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "ark.mckinsey.com", Version: "v1alpha1", Kind: listKind})
		if err := r.client.List(ctx, list, client.InNamespace(object.GetNamespace())); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for _, item := range list.Items {
			if name, _, _ := unstructured.NestedString(item.Object, path...); name == object.GetName() {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&item)})
			}
		}
		return requests
	})
}

func (r *reconcilers) model(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := empty("Model")
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return reconcile.Result{}, r.setCondition(ctx, object, "ModelAvailable", "True")
}

func (r *reconcilers) agent(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := empty("Agent")
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	name, _, _ := unstructured.NestedString(object.Object, "spec", "modelRef", "name")
	model := empty("Model")
	err := r.client.Get(ctx, types.NamespacedName{Namespace: request.Namespace, Name: name}, model)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	state := "False"
	if err == nil && isTrue(model, "ModelAvailable") {
		state = "True"
	}
	return reconcile.Result{}, r.setCondition(ctx, object, "Available", state)
}

func (r *reconcilers) query(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := empty("Query")
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, r.letGo(ctx, object)
	}
	name, _, _ := unstructured.NestedString(object.Object, "spec", "target", "name")
	agent := empty("Agent")
	if err := r.client.Get(ctx, types.NamespacedName{Namespace: request.Namespace, Name: name}, agent); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	before := object.DeepCopy()
	controllerutil.AddFinalizer(object, finalizer)
	if err := controllerutil.SetOwnerReference(agent, object, r.client.Scheme()); err != nil {
		return reconcile.Result{}, err
	}
	// With the version that was read: whoever was faster is seen at the next try.
	if err := r.client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return reconcile.Result{}, err
	}
	answer := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: "answer-" + request.Name}}
	input, _, _ := unstructured.NestedString(object.Object, "spec", "input")
	if _, err := controllerutil.CreateOrUpdate(ctx, r.client, answer, func() error {
		answer.Data = map[string]string{"input": input}
		return controllerutil.SetControllerReference(object, answer, r.client.Scheme())
	}); err != nil {
		return reconcile.Result{}, err
	}
	if !isTrue(agent, "Available") {
		return reconcile.Result{}, r.setPhase(ctx, object, "running", nil)
	}
	return reconcile.Result{}, r.setPhase(ctx, object, "done", map[string]any{
		"target":  map[string]any{"type": "agent", "name": name},
		"content": "answer to " + input,
		"phase":   "done",
	})
}

// letGo ends what a Query has made outside itself, and then lets it go.
func (r *reconcilers) letGo(ctx context.Context, object *unstructured.Unstructured) error {
	answer := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: "answer-" + object.GetName()}}
	if err := r.client.Delete(ctx, answer); client.IgnoreNotFound(err) != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return client.IgnoreNotFound(err)
		}
		if !controllerutil.RemoveFinalizer(object, finalizer) {
			return nil
		}
		return client.IgnoreNotFound(r.client.Update(ctx, object))
	})
}

func (r *reconcilers) setPhase(ctx context.Context, object *unstructured.Unstructured, phase string, response map[string]any) error {
	return r.updateStatus(ctx, object, func(status map[string]any) bool {
		if status["phase"] == phase {
			return false
		}
		status["phase"] = phase
		if response != nil {
			status["response"] = response
		}
		return true
	})
}

func (r *reconcilers) setCondition(ctx context.Context, object *unstructured.Unstructured, kind, state string) error {
	return r.updateStatus(ctx, object, func(status map[string]any) bool {
		generation := object.GetGeneration()
		if current, _ := status["conditions"].([]any); len(current) == 1 {
			found, _ := current[0].(map[string]any)
			if found["status"] == state && found["observedGeneration"] == generation {
				return false
			}
		}
		status["conditions"] = []any{map[string]any{
			"type":               kind,
			"status":             state,
			"reason":             "Looked",
			"message":            "",
			"observedGeneration": generation,
			"lastTransitionTime": metav1.Now().UTC().Format(time.RFC3339),
		}}
		return true
	})
}

// updateStatus writes the status by PUT, and again from what is there when somebody was faster.
func (r *reconcilers) updateStatus(ctx context.Context, object *unstructured.Unstructured, change func(map[string]any) bool) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return client.IgnoreNotFound(err)
		}
		status, _, _ := unstructured.NestedMap(object.Object, "status")
		if status == nil {
			status = map[string]any{}
		}
		if !change(status) {
			return nil
		}
		object.Object["status"] = status
		err := r.client.Status().Update(ctx, object)
		if errors.IsConflict(err) {
			fmt.Println("conflict")
		}
		return client.IgnoreNotFound(err)
	})
}

func isTrue(object *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range conditions {
		if condition, _ := one.(map[string]any); condition["type"] == kind && condition["status"] == "True" {
			return true
		}
	}
	return false
}
