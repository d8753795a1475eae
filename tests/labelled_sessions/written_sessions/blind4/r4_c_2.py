from written_sessions.vocabulary import *

polish = Session(
    name="r4c_oracle_bez_uruchamiania_pl",
    about="The user forbids running anything; an Oracle package body is corrected by reading only. Polish.",
    type="development",
    steps=(
        user("W pakiecie PL/SQL db/pkg_faktury.sql funkcja stawka_vat zwraca 23 także dla książek (kod 4901). Dla 4901 ma być 5. Popraw też literówkę \"fakutry\" w komunikacie błędu. Niczego nie uruchamiaj, bazę testową właśnie odtwarzamy — skompiluję to sam wieczorem."),
        read("db/pkg_faktury.sql", """create or replace package body pkg_faktury as

  function stawka_vat(p_kod in varchar2) return number is
  begin
    if p_kod is null then
      raise_application_error(-20010, 'Brak kodu pozycji fakutry');
    end if;
    return case
      when substr(p_kod, 1, 2) in ('02', '04', '10') then 5
      when substr(p_kod, 1, 2) = '49' then 23
      when substr(p_kod, 1, 4) = '4901' then 5
      else 23
    end;
  end stawka_vat;

end pkg_faktury;
/
"""),
        grep("stawka_vat|fakutry", "db/pkg_faktury.sql:3:  function stawka_vat(p_kod in varchar2) return number is", "db/pkg_faktury.sql:6:      raise_application_error(-20010, 'Brak kodu pozycji fakutry');", "db/pkg_faktury.sql:14:  end stawka_vat;", "db/pkg_faktury_spec.sql:4:  function stawka_vat(p_kod in varchar2) return number;", "db/job_ksiegowanie.sql:22:    v_vat := pkg_faktury.stawka_vat(r.kod);"),
        edit("db/pkg_faktury.sql", "      when substr(p_kod, 1, 2) = '49' then 23\n      when substr(p_kod, 1, 4) = '4901' then 5\n", "      when substr(p_kod, 1, 4) = '4901' then 5\n"),
        edit("db/pkg_faktury.sql", "pozycji fakutry'", "pozycji faktury'"),
        assistant("""Poprawione, nic nie uruchamiałem.

Przyczyna: `case` bierze pierwszy pasujący warunek, a warunek na „49” stał przed „4901”, więc ten drugi nigdy nie działał. Usunąłem warunek na „49” — pozostałe kody 49xx i tak trafiają do `else 23`. Literówka w komunikacie -20010 też poprawiona; nikt w repozytorium nie porównuje tego tekstu.

Specyfikacja pakietu się nie zmieniła, wystarczy skompilować samo body."""),
    ),
)

zephyr = Session(
    name="r4c_zephyr_firmware_watchdog",
    about="A firmware project without tests: a watchdog is added, the image builds for two boards and fits.",
    type="development",
    branch="watchdog",
    steps=(
        user("Add the hardware watchdog to the sensor firmware: 8 s timeout, fed once per main loop, reset SoC on expiry. No unit tests in here, but it has to build for both boards (sensor_v2 and nrf52840dk). Commit on this branch when it does."),
        bash("ls; cat prj.conf CMakeLists.txt; cat src/main.c; ls boards", """CMakeLists.txt  README.md  boards  prj.conf  src
CONFIG_GPIO=y
CONFIG_SENSOR=y
CONFIG_LOG=y
cmake_minimum_required(VERSION 3.20.0)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(sensor)
target_sources(app PRIVATE src/main.c src/sample.c)
#include <zephyr/kernel.h>
#include <zephyr/logging/log.h>
#include "sample.h"

LOG_MODULE_REGISTER(main);

int main(void)
{
	for (;;) {
		int err = sample_take();
		if (err) {
			LOG_ERR("sample: %d", err);
		}
		k_sleep(K_SECONDS(2));
	}
	return 0;
}
nrf52840dk_nrf52840.overlay  sensor_v2.overlay"""),
        bash("cat boards/*.overlay; grep -rn 'watchdog0' boards $ZEPHYR_BASE/boards/nordic/nrf52840dk/*.dts* | head", """/ { aliases { temp0 = &temp; }; };
/ { aliases { temp0 = &sht4x; watchdog0 = &wdt0; }; };
/opt/zephyr/boards/nordic/nrf52840dk/nrf52840dk_nrf52840_common.dtsi:58:		watchdog0 = &wdt0;"""),
        write("src/watchdog.h", "#pragma once\n\nint watchdog_start(void);\nvoid watchdog_feed(void);\n"),
        write("src/watchdog.c", """#include <zephyr/device.h>
#include <zephyr/drivers/watchdog.h>
#include "watchdog.h"

#define TIMEOUT_MS 8000

static const struct device *const wdt = DEVICE_DT_GET(DT_ALIAS(watchdog0));
static int channel = -1;

int watchdog_start(void)
{
	if (!device_is_ready(wdt)) {
		return -ENODEV;
	}

	const struct wdt_timeout_cfg cfg = {
		.window = { .min = 0, .max = TIMEOUT_MS },
		.flags = WDT_FLAG_RESET_SOC,
	};

	channel = wdt_install_timeout(wdt, &cfg);
	if (channel < 0) {
		return channel;
	}
	return wdt_setup(wdt, WDT_OPT_PAUSE_HALTED_BY_DBG);
}

void watchdog_feed(void)
{
	if (channel >= 0) {
		wdt_feed(wdt, channel);
	}
}
"""),
        bash("sed -i 's|src/sample.c)|src/sample.c src/watchdog.c)|' CMakeLists.txt && echo CONFIG_WATCHDOG=y >> prj.conf && python3 - <<'EOF'\np='src/main.c'; s=open(p).read()\ns=s.replace('#include \"sample.h\"\\n','#include \"sample.h\"\\n#include \"watchdog.h\"\\n')\ns=s.replace('int main(void)\\n{\\n','int main(void)\\n{\\n\\tint started = watchdog_start();\\n\\tif (started) {\\n\\t\\tLOG_ERR(\"watchdog: %d\", started);\\n\\t}\\n\\n')\ns=s.replace('\\t\\tk_sleep(','\\t\\twatchdog_feed();\\n\\t\\tk_sleep(')\nopen(p,'w').write(s)\nEOF\ngit diff", """diff --git a/CMakeLists.txt b/CMakeLists.txt
index 4a1c0d2..b7e9f10 100644
--- a/CMakeLists.txt
+++ b/CMakeLists.txt
@@ -1,4 +1,4 @@
 cmake_minimum_required(VERSION 3.20.0)
 find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
 project(sensor)
-target_sources(app PRIVATE src/main.c src/sample.c)
+target_sources(app PRIVATE src/main.c src/sample.c src/watchdog.c)
diff --git a/prj.conf b/prj.conf
index 1e3ab77..0c92d81 100644
--- a/prj.conf
+++ b/prj.conf
@@ -1,3 +1,4 @@
 CONFIG_GPIO=y
 CONFIG_SENSOR=y
 CONFIG_LOG=y
+CONFIG_WATCHDOG=y
diff --git a/src/main.c b/src/main.c
index 90c1b3e..5f6d2aa 100644
--- a/src/main.c
+++ b/src/main.c
@@ -1,13 +1,20 @@
 #include <zephyr/kernel.h>
 #include <zephyr/logging/log.h>
 #include "sample.h"
+#include "watchdog.h"
 
 LOG_MODULE_REGISTER(main);
 
 int main(void)
 {
+	int started = watchdog_start();
+	if (started) {
+		LOG_ERR("watchdog: %d", started);
+	}
+
 	for (;;) {
 		int err = sample_take();
 		if (err) {
 			LOG_ERR("sample: %d", err);
 		}
+		watchdog_feed();
 		k_sleep(K_SECONDS(2));
 	}
"""),
        bash("for b in sensor_v2 nrf52840dk/nrf52840; do west build -p -b $b -d build/${b%%/*} . 2>&1 | tail -9 || exit 1; done", """[162/168] Linking C executable zephyr/zephyr_pre0.elf
[168/168] Linking C executable zephyr/zephyr.elf
Memory region         Used Size  Region Size  %age Used
           FLASH:       41872 B       256 KB     15.97%
             RAM:        9216 B        64 KB     14.06%
        IDT_LIST:          0 GB        32 KB      0.00%
Generating files from /srv/project/build/sensor_v2/zephyr/zephyr.elf for board: sensor_v2
[166/171] Linking C executable zephyr/zephyr_pre0.elf
[171/171] Linking C executable zephyr/zephyr.elf
Memory region         Used Size  Region Size  %age Used
           FLASH:       38104 B         1 MB      3.63%
             RAM:        8896 B       256 KB      3.39%
        IDT_LIST:          0 GB        32 KB      0.00%
Generating files from /srv/project/build/nrf52840dk/zephyr/zephyr.elf for board: nrf52840dk
"""),
        bash("git add CMakeLists.txt prj.conf src && git commit -qm 'Start the hardware watchdog, 8 s, fed by the main loop' && git log --oneline -1 && git status --short", "c81f02e Start the hardware watchdog, 8 s, fed by the main loop"),
        assistant("The watchdog is in and committed (c81f02e): 8 s, fed once per loop, SoC reset on expiry, and paused while a debugger halts the core. Both boards build (sensor_v2: 41.9 KB flash of 256 KB; nrf52840dk: 38.1 KB of 1 MB). If the watchdog device is missing the firmware logs the error and keeps sampling. It has not been on hardware; a quick way to see it bite is a `k_sleep(K_SECONDS(10))` in the loop."),
    ),
)

go_plan = Session(
    name="r4c_go_slow_list_plan",
    about="An investigation of a slow endpoint ends in numbers and a plan that the user asked to see before anything is changed.",
    type="investigation",
    steps=(
        user("GET /v1/shipments takes 4 s for big customers. Find out why. Don't change anything yet — I want the cause and a plan with steps I can put into tickets."),
        grep("v1/shipments", "internal/http/routes.go:31:\tr.Get(\"/v1/shipments\", h.ListShipments)"),
        bash("sed -n '/func (h \\*Handler) ListShipments/,/^}/p' internal/http/shipments.go; cat internal/store/shipments.go", """func (h *Handler) ListShipments(w http.ResponseWriter, r *http.Request) {
	list, err := h.store.Shipments(r.Context(), customer(r))
	if err != nil {
		h.fail(w, err)
		return
	}
	for i := range list {
		list[i].Events, err = h.store.Events(r.Context(), list[i].ID)
		if err != nil {
			h.fail(w, err)
			return
		}
	}
	render(w, list)
}
package store

func (s *Store) Shipments(ctx context.Context, customer string) ([]Shipment, error) {
	return query[Shipment](ctx, s.db, `SELECT * FROM shipments WHERE customer_id = $1 ORDER BY created_at DESC`, customer)
}

func (s *Store) Events(ctx context.Context, shipment string) ([]Event, error) {
	return query[Event](ctx, s.db, `SELECT * FROM events WHERE shipment_id = $1 ORDER BY at`, shipment)
}"""),
        bash("""psql "$STAGING_RO" -c "EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM shipments WHERE customer_id='c_118' ORDER BY created_at DESC" -c "EXPLAIN ANALYZE SELECT * FROM events WHERE shipment_id='s_99120' ORDER BY at" -c "\\d events" """, """                                                            QUERY PLAN                                                            
----------------------------------------------------------------------------------------------------------------------------------
 Index Scan Backward using shipments_customer_created on shipments  (cost=0.43..811.20 rows=1890 width=212) (actual time=0.03..3.91 rows=1907 loops=1)
   Index Cond: (customer_id = 'c_118'::text)
   Buffers: shared hit=1411
 Planning Time: 0.210 ms
 Execution Time: 4.402 ms
(5 rows)

                                                QUERY PLAN                                                 
-----------------------------------------------------------------------------------------------------------
 Sort  (cost=34.10..34.13 rows=9 width=96) (actual time=0.061..0.062 rows=8 loops=1)
   Sort Key: at
   Sort Method: quicksort  Memory: 26kB
   ->  Index Scan using events_shipment_id on events  (cost=0.43..33.95 rows=9 width=96) (actual time=0.02..0.04 rows=8 loops=1)
         Index Cond: (shipment_id = 's_99120'::text)
 Planning Time: 0.101 ms
 Execution Time: 0.083 ms
(7 rows)

                 Table "public.events"
   Column    |           Type           | Collation | Nullable | Default 
-------------+--------------------------+-----------+----------+---------
 id          | bigint                   |           | not null | 
 shipment_id | text                     |           | not null | 
 kind        | text                     |           | not null | 
 at          | timestamp with time zone |           | not null | 
Indexes:
    "events_pkey" PRIMARY KEY, btree (id)
    "events_shipment_id" btree (shipment_id)
"""),
        bash("for i in 1 2 3; do curl -s -o /dev/null -w '%{time_total} %{size_download}\\n' -H \"X-Customer: c_118\" https://staging.internal/v1/shipments; done; curl -s -o /dev/null -w '%{time_total}\\n' https://staging.internal/healthz/db", "4.118231 3518822\n4.052180 3518822\n4.071994 3518822\n0.002140"),
        bash("git log --oneline -3 -- internal/http/shipments.go && grep -rn 'limit\\|cursor' internal/http/*.go | head -3", "1c2b7aa list: include events (#402)\n8812f0d list shipments\ninternal/http/invoices.go:22:\tlimit, cursor := page(r)"),
        assistant("""## Cause

One query per shipment. `ListShipments` fetches the list (4 ms for c_118) and then calls `store.Events` for each of its 1,907 rows. Each of those is quick on the server (0.08 ms) but costs a round trip of about 2 ms (`/healthz/db`: 2.1 ms): 1,907 × 2.1 ms ≈ 4.0 s, and that is what curl measures (4.05–4.12 s). It came with #402. No index is missing.

A second point: the answer is 3.5 MB, because the endpoint has no paging. `invoices.go` has it already (`page(r)`).

## Plan

1. **Load events in one query** (`WHERE shipment_id = ANY($1)`, grouped in Go). Small, no change of the API. Expected: 4 s → about 50 ms.
2. **Paging** as in `invoices.go`, default 100. Changes what clients see, so announce it first.
3. **A guard**: a test that counts queries per request, so that this does not come back.

Ticket 1 alone solves the complaint; 2 and 3 can follow independently. Nothing has been changed."""),
    ),
)

hpa = Session(
    name="r4c_k8s_hpa_rollout",
    about="An autoscaler is added to a deployment: dry run, apply, rollout watched in the background to its end.",
    type="operations",
    steps=(
        user("thumbnailer falls over every evening. give it an HPA 2..8 at 70% cpu in cluster eu-1, requests are missing too I think. manifests in deploy/thumbnailer, applied by hand (no argo for this one)"),
        bash("kubectl config current-context && cat deploy/thumbnailer/*.yaml && kubectl -n media top pod -l app=thumbnailer && kubectl -n media get hpa", """eu-1
apiVersion: apps/v1
kind: Deployment
metadata:
  name: thumbnailer
  namespace: media
spec:
  replicas: 2
  selector:
    matchLabels: {app: thumbnailer}
  template:
    metadata:
      labels: {app: thumbnailer}
    spec:
      containers:
        - name: thumbnailer
          image: registry.internal/thumbnailer:4.2.0
          ports: [{containerPort: 8080}]
NAME                           CPU(cores)   MEMORY(bytes)   
thumbnailer-6d8f9c7b9d-4kq2x   212m         301Mi           
thumbnailer-6d8f9c7b9d-zz81p   198m         288Mi           
No resources found in media namespace."""),
        says("Right, no requests, and without them an HPA on CPU cannot compute a percentage. `replicas` has to go too, otherwise each apply sets it back to 2."),
        read("deploy/thumbnailer/deployment.yaml", """apiVersion: apps/v1
kind: Deployment
metadata:
  name: thumbnailer
  namespace: media
spec:
  replicas: 2
  selector:
    matchLabels: {app: thumbnailer}
  template:
    metadata:
      labels: {app: thumbnailer}
    spec:
      containers:
        - name: thumbnailer
          image: registry.internal/thumbnailer:4.2.0
          ports: [{containerPort: 8080}]
"""),
        multi_edit("deploy/thumbnailer/deployment.yaml", ("  replicas: 2\n", ""), ("          ports: [{containerPort: 8080}]\n", "          ports: [{containerPort: 8080}]\n          resources:\n            requests: {cpu: 250m, memory: 384Mi}\n            limits: {memory: 768Mi}\n")),
        write("deploy/thumbnailer/hpa.yaml", """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: thumbnailer
  namespace: media
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: thumbnailer
  minReplicas: 2
  maxReplicas: 8
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: 70}
"""),
        bash("kubectl apply --dry-run=server -f deploy/thumbnailer/ && kubectl diff -f deploy/thumbnailer/deployment.yaml", """deployment.apps/thumbnailer configured (server dry run)
horizontalpodautoscaler.autoscaling/thumbnailer created (server dry run)
diff -u -N /tmp/LIVE-3021/apps.v1.Deployment.media.thumbnailer /tmp/MERGED-1182/apps.v1.Deployment.media.thumbnailer
--- /tmp/LIVE-3021/apps.v1.Deployment.media.thumbnailer
+++ /tmp/MERGED-1182/apps.v1.Deployment.media.thumbnailer
@@ -8,7 +8,7 @@
 spec:
   progressDeadlineSeconds: 600
-  replicas: 2
+  replicas: 1
@@ -38,6 +38,11 @@
-        resources: {}
+        resources:
+          limits:
+            memory: 768Mi
+          requests:
+            cpu: 250m
+            memory: 384Mi""", 1),
        says("Dropping `replicas` would scale it to 1 for a moment, since the last-applied annotation still holds it. I take the field out of the annotation first and create the HPA before the deployment changes."),
        bash("kubectl -n media get deploy thumbnailer -o jsonpath='{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}' | jq -c 'del(.spec.replicas)' > /tmp/la.json && kubectl -n media annotate deploy thumbnailer --overwrite kubectl.kubernetes.io/last-applied-configuration=\"$(cat /tmp/la.json)\" && kubectl diff -f deploy/thumbnailer/deployment.yaml | grep replicas; kubectl apply -f deploy/thumbnailer/hpa.yaml -f deploy/thumbnailer/deployment.yaml", "deployment.apps/thumbnailer annotated\nhorizontalpodautoscaler.autoscaling/thumbnailer created\ndeployment.apps/thumbnailer configured"),
        background("bq71xk", "kubectl -n media rollout status deploy/thumbnailer --timeout=5m"),
        assistant("Applied. The rollout is running in the background; I'm waiting for it to finish."),
        background_ended("bq71xk", "kubectl -n media rollout status deploy/thumbnailer --timeout=5m", 0),
        bash("kubectl -n media rollout status deploy/thumbnailer; kubectl -n media get hpa,pod -l app=thumbnailer; kubectl -n media get hpa thumbnailer", """deployment "thumbnailer" successfully rolled out
NAME                               READY   STATUS    RESTARTS   AGE
pod/thumbnailer-7b55c9d4f6-h2m9k   1/1     Running   0          71s
pod/thumbnailer-7b55c9d4f6-x7r4d   1/1     Running   0          48s
NAME          REFERENCE                TARGETS       MINPODS   MAXPODS   REPLICAS   AGE
thumbnailer   Deployment/thumbnailer   cpu: 84%/70%   2         8         2          93s"""),
        bash("sleep 45; kubectl -n media get hpa thumbnailer; kubectl -n media describe hpa thumbnailer | sed -n '/Events/,$p'", """NAME          REFERENCE                TARGETS       MINPODS   MAXPODS   REPLICAS   AGE
thumbnailer   Deployment/thumbnailer   cpu: 61%/70%   2         8         3          2m20s
Events:
  Type    Reason             Age   From                       Message
  ----    ------             ----  ----                       -------
  Normal  SuccessfulRescale  38s   horizontal-pod-autoscaler  New size: 3; reason: cpu resource utilization (percentage of request) above target"""),
        assistant("""thumbnailer scales by itself now: 2 to 8 pods at 70 % of a 250m request. It was rolled out without an interruption, and the HPA has already gone from 2 to 3 (84 % → 61 %).

- `deployment.yaml`: requests 250m / 384Mi from what the pods use now, memory limit 768Mi, `replicas` removed so that an apply doesn't fight the HPA.
- `hpa.yaml` is new. Both files are changed in your working copy, not committed.

Tonight's peak will show whether 8 is enough; the HPA will say `ScalingLimited` if it isn't."""),
    ),
)

pt_question = Session(
    name="r4c_fila_ou_cron_pt",
    about="A question about design is answered in Portuguese without tools and ends in a question about a preference.",
    type="informational",
    steps=(
        user("Preciso mandar um e-mail de lembrete 24 h antes de cada consulta. Uma fila com atraso (SQS) ou um cron que varre a tabela a cada 5 min? Só quero entender os prós e contras, não programe nada."),
        assistant("""Para um lembrete de 24 horas, o cron costuma ganhar.

**Fila com atraso**
- No SQS o atraso máximo é de 15 minutos; para 24 h você teria que reencaminhar a mensagem ou usar o EventBridge Scheduler.
- Consulta remarcada ou cancelada = mensagem velha que precisa ser anulada ou ignorada na hora do envio.
- Em troca, o envio sai quase no segundo certo e não há varredura.

**Cron a cada 5 minutos**
- A tabela é a única fonte da verdade: remarcar ou cancelar não exige nada a mais.
- Precisa de uma coluna `lembrete_enviado_em` e de um `UPDATE … WHERE lembrete_enviado_em IS NULL … RETURNING`, para que duas execuções não mandem o mesmo e-mail.
- Erro de até 5 minutos, o que para um lembrete de um dia não importa. Com um índice parcial, a varredura custa quase nada.

A fila passa a valer a pena com milhões de consultas por dia ou se a hora exata importar.

Vocês remarcam muitas consultas no mesmo dia? Se sim, isso pesa ainda mais a favor do cron."""),
    ),
)

_SLOTS = '''defmodule Slots do
  @doc "Free slots of a day, as {from, to} in minutes."
  def free(busy, {open, close}) do
    {gaps, last} =
      Enum.reduce(Enum.sort(busy), {[], open}, fn {from, to}, {gaps, at} ->
        gaps = if from > at, do: [{at, from} | gaps], else: gaps
        {gaps, to}
      end)

    gaps = if last < close, do: [{last, close} | gaps], else: gaps
    Enum.reverse(gaps)
  end
end
'''
elixir = Session(
    name="r4c_elixir_slots_changelog_after",
    about="A bug of overlapping meetings is fixed test first in Elixir; the changelog line comes after the last test run.",
    type="development",
    steps=(
        user("Slots.free says 11:00-12:00 is free although a meeting goes 10-12 with a short one 10:30-11 inside it. Fix + test + a line under Unreleased in CHANGELOG.md"),
        read("lib/slots.ex", _SLOTS),
        bash("cat test/slots_test.exs; head -12 CHANGELOG.md", """defmodule SlotsTest do
  use ExUnit.Case

  test "gaps between meetings" do
    assert Slots.free([{600, 660}, {720, 780}], {540, 1020}) ==
             [{540, 600}, {660, 720}, {780, 1020}]
  end
end
# Changelog

## Unreleased

- `Slots.free/2` accepts meetings in any order.

## 0.4.0
"""),
        edit("test/slots_test.exs", "             [{540, 600}, {660, 720}, {780, 1020}]\n  end\n", "             [{540, 600}, {660, 720}, {780, 1020}]\n  end\n\n  test \"a meeting inside another\" do\n    assert Slots.free([{600, 720}, {630, 660}], {540, 1020}) ==\n             [{540, 600}, {720, 1020}]\n  end\n"),
        bash("mix test", """Compiling 1 file (.ex)
Generated slots app
.

  1) test a meeting inside another (SlotsTest)
     test/slots_test.exs:9
     Assertion with == failed
     code:  assert Slots.free([{600, 720}, {630, 660}], {540, 1020}) == [{540, 600}, {720, 1020}]
     left:  [{540, 600}, {660, 1020}]
     right: [{540, 600}, {720, 1020}]
     stacktrace:
       test/slots_test.exs:10: (test)


Finished in 0.01 seconds (0.00s async, 0.01s sync)
2 tests, 1 failure

Randomized with seed 825853""", 2),
        edit("lib/slots.ex", "        {gaps, to}\n", "        {gaps, max(at, to)}\n"),
        bash("mix test && mix format --check-formatted", """Compiling 1 file (.ex)
..
Finished in 0.02 seconds (0.00s async, 0.02s sync)
2 tests, 0 failures

Randomized with seed 385694"""),
        edit("CHANGELOG.md", "- `Slots.free/2` accepts meetings in any order.\n", "- `Slots.free/2` accepts meetings in any order.\n- `Slots.free/2` no longer reports time as free that an enclosing meeting covers.\n"),
        assistant("The end of the busy time moved *backwards* when a shorter meeting lay inside a longer one; it is `max(at, to)` now. The new test failed before and passes with the fix (2 tests, 0 failures), and the changelog has its line."),
    ),
)

_RING = """#include "ring.h"

Ring::Ring(std::size_t capacity) : slots_(capacity) {}

bool Ring::push(int value) {
    if (count_ == slots_.size()) return false;
    slots_[head_ + count_ % slots_.size()] = value;
    ++count_;
    return true;
}
"""
cpp = Session(
    name="r4c_cpp_ring_asan_resumed",
    about="A heap overflow in C++ is found with AddressSanitizer; interrupted and resumed with a smaller goal, which is met.",
    type="development",
    branch="fix/ring",
    steps=(
        user("The logger crashes about once a day in Ring::push. Track it down and fix it, with a regression test in tests/ring_test.cpp. And while you are there rewrite Ring as a lock-free template."),
        read("src/ring.cpp", _RING),
        bash("cat include/ring.h tests/ring_test.cpp CMakeLists.txt", """#pragma once
#include <cstddef>
#include <vector>

class Ring {
public:
    explicit Ring(std::size_t capacity);
    bool push(int value);
    bool pop(int &value);
    std::size_t size() const { return count_; }

private:
    std::vector<int> slots_;
    std::size_t head_ = 0, count_ = 0;
};
#include "ring.h"
#include "check.h"

int main() {
    Ring ring(2);
    int value = 0;
    CHECK(ring.push(1) && ring.push(2) && !ring.push(3));
    CHECK(ring.pop(value) && value == 1);
}
cmake_minimum_required(VERSION 3.16)
project(ring CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(ring src/ring.cpp)
target_include_directories(ring PUBLIC include)
enable_testing()
add_executable(ring_test tests/ring_test.cpp)
target_link_libraries(ring_test ring)
add_test(NAME ring_test COMMAND ring_test)"""),
        edit("tests/ring_test.cpp", "    CHECK(ring.pop(value) && value == 1);\n", "    CHECK(ring.pop(value) && value == 1);\n    CHECK(ring.push(3));\n    CHECK(ring.pop(value) && value == 2);\n    CHECK(ring.pop(value) && value == 3);\n"),
        bash("cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS='-fsanitize=address,undefined' >/dev/null && cmake --build build && ctest --test-dir build --output-on-failure 2>&1 | head -12", """[ 25%] Building CXX object CMakeFiles/ring.dir/src/ring.cpp.o
[ 50%] Linking CXX static library libring.a
[ 50%] Built target ring
[ 75%] Building CXX object CMakeFiles/ring_test.dir/tests/ring_test.cpp.o
[100%] Linking CXX executable ring_test
[100%] Built target ring_test
Internal ctest changing into directory: /srv/project/build
Test project /srv/project/build
    Start 1: ring_test
1/1 Test #1: ring_test ........................***Failed    0.25 sec
=================================================================
==3209==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000018 at pc 0x55c3d3b673bd bp 0x7ffc9b84b250 sp 0x7ffc9b84b248
WRITE of size 4 at 0x602000000018 thread T0
    #0 0x55c3d3b673bc in Ring::push(int) /srv/project/src/ring.cpp:7
    #1 0x55c3d3b6652e in main /srv/project/tests/ring_test.cpp:9"""),
        says("There it is: `%` binds tighter than `+`, so the index runs past the end as soon as head_ has moved. Before fixing it I'll look at how the template could look."),
        interrupted(),
        user("wait, forget the lock-free rewrite, Anna has that on her list for May. just the fix and the test."),
        edit("src/ring.cpp", "slots_[head_ + count_ % slots_.size()] = value;", "slots_[(head_ + count_) % slots_.size()] = value;"),
        bash("cmake --build build && ctest --test-dir build --output-on-failure", """[ 25%] Building CXX object CMakeFiles/ring.dir/src/ring.cpp.o
[ 50%] Linking CXX static library libring.a
[ 50%] Built target ring
[ 75%] Linking CXX executable ring_test
[100%] Built target ring_test
Internal ctest changing into directory: /srv/project/build
Test project /srv/project/build
    Start 1: ring_test
1/1 Test #1: ring_test ........................   Passed    0.04 sec

100% tests passed, 0 tests failed out of 1

Total Test time (real) =   0.05 sec"""),
        assistant("Fixed: the write index was `head_ + (count_ % size)` because of operator precedence; with parentheses it wraps. That wrote past the buffer whenever an element had been popped before, which explains the rare crash. The regression test reproduces it under ASan and passes now, with ASan and UBSan on. The lock-free version stays with Anna."),
    ),
)

_DBT_OK = """09:02:41  Running with dbt=1.8.7
09:02:42  Registered adapter: postgres=1.8.2
09:02:42  Found 14 models, 31 data tests, 4 sources, 417 macros
09:02:42  
09:02:42  Concurrency: 4 threads (target='dev')
09:02:42  
09:02:42  1 of 5 START sql table model dev.fct_refunds ................................... [RUN]
09:02:44  1 of 5 OK created sql table model dev.fct_refunds .............................. [SELECT 8123 in 1.61s]
09:02:44  2 of 5 START test not_null_fct_refunds_refund_id ............................... [RUN]
09:02:44  3 of 5 START test relationships_fct_refunds_order_id__order_id__ref_fct_orders_  [RUN]
09:02:44  4 of 5 START test unique_fct_refunds_refund_id ................................. [RUN]
09:02:44  5 of 5 START test assert_refund_not_above_order ................................ [RUN]
09:02:44  2 of 5 PASS not_null_fct_refunds_refund_id ..................................... [PASS in 0.09s]
09:02:44  4 of 5 PASS unique_fct_refunds_refund_id ....................................... [PASS in 0.10s]
09:02:44  3 of 5 PASS relationships_fct_refunds_order_id__order_id__ref_fct_orders_ ...... [PASS in 0.14s]
09:02:44  5 of 5 PASS assert_refund_not_above_order ...................................... [PASS in 0.17s]
09:02:44  
09:02:44  Finished running 1 table model, 4 data tests in 0 hours 0 minutes and 2.31 seconds (2.31s).
09:02:44  
09:02:44  Completed successfully
09:02:44  
09:02:44  Done. PASS=5 WARN=0 ERROR=0 SKIP=0 TOTAL=5"""
dbt = Session(
    name="r4c_dbt_refunds_subagent_compacted",
    about="A dbt model with tests is built after a subagent explored the source; the conversation was compacted in between.",
    type="development",
    branch="refunds",
    steps=(
        user("Build a fct_refunds model (one row per refund, in cents, joined to fct_orders) in our dbt project. Tests: unique, not_null, relationship to orders, and no refund above the order's total. dbt build for it must pass. Have a subagent look at what is in raw.stripe_refunds first, the source is messy."),
        todos("> explore raw.stripe_refunds", "- staging model", "- fct_refunds", "- tests", "- dbt build"),
        subagent("a41c77", "Explore raw.stripe_refunds", "Look at raw.stripe_refunds in the dev warehouse: columns, duplicates, currencies, statuses, how it joins to orders. Read only.",
                 bash("psql \"$DEV_DB\" -c 'select status, currency, count(*), count(distinct id) from raw.stripe_refunds group by 1,2 order by 3 desc'", """  status   | currency | count | count 
-----------+----------+-------+-------
 succeeded | eur      |  8977 |  8123
 pending   | eur      |   211 |   211
 failed    | eur      |   140 |   140
(3 rows)"""),
                 bash("psql \"$DEV_DB\" -c \"select id, status, amount, _loaded_at from raw.stripe_refunds where id in (select id from raw.stripe_refunds group by 1 having count(*) > 1) order by id, _loaded_at limit 4\" -c \"select count(*) from raw.stripe_refunds r left join dev.fct_orders o on o.payment_intent = r.payment_intent where o.order_id is null\"", """      id       |  status   | amount |      _loaded_at      
---------------+-----------+--------+----------------------
 re_0Axk       | succeeded |   4990 | 2026-01-04 02:10:11+00
 re_0Axk       | succeeded |   4990 | 2026-01-05 02:10:09+00
 re_0B11       | succeeded |   1500 | 2026-01-09 02:10:10+00
 re_0B11       | succeeded |   1500 | 2026-01-10 02:10:12+00
(4 rows)

 count 
-------
     0
(1 row)"""),
                 report="raw.stripe_refunds: amount is already in cents, EUR only. succeeded 8977 rows / 8123 distinct ids (854 rows loaded again, same values, newer _loaded_at). pending 211, failed 140. Joins to fct_orders by payment_intent without orphans."),
        todos("x explore raw.stripe_refunds", "> staging model", "- fct_refunds", "- tests", "- dbt build"),
        write("models/staging/stg_stripe__refunds.sql", """select distinct on (id)
    id as refund_id,
    payment_intent,
    amount as amount_cents,
    status,
    to_timestamp(created) as refunded_at
from {{ source('stripe', 'stripe_refunds') }}
order by id, _loaded_at desc
"""),
        bash("dbt build --select stg_stripe__refunds", """09:01:10  Running with dbt=1.8.7
09:01:11  Registered adapter: postgres=1.8.2
09:01:11  Found 13 models, 27 data tests, 4 sources, 417 macros
09:01:11  
09:01:11  Concurrency: 4 threads (target='dev')
09:01:11  
09:01:11  1 of 1 START sql view model dev.stg_stripe__refunds ............................ [RUN]
09:01:11  1 of 1 OK created sql view model dev.stg_stripe__refunds ....................... [CREATE VIEW in 0.21s]
09:01:11  
09:01:11  Finished running 1 view model in 0 hours 0 minutes and 0.48 seconds (0.48s).
09:01:11  
09:01:11  Completed successfully
09:01:11  
09:01:11  Done. PASS=1 WARN=0 ERROR=0 SKIP=0 TOTAL=1"""),
        todos("x explore raw.stripe_refunds", "x staging model", "> fct_refunds", "- tests", "- dbt build"),
        compacted("The user wants fct_refunds (one row per refund, cents, joined to fct_orders), tests unique / not_null / relationships / no refund above the order total, and a passing `dbt build` for it. A subagent found duplicates by reload and the statuses succeeded, pending, failed; amounts are cents in EUR, join by payment_intent. Done: models/staging/stg_stripe__refunds.sql (deduplicated). Open: fct_refunds, its tests, dbt build."),
        write("models/marts/fct_refunds.sql", """select
    r.refund_id,
    o.order_id,
    r.amount_cents,
    r.refunded_at
from {{ ref('stg_stripe__refunds') }} r
join {{ ref('fct_orders') }} o using (payment_intent)
where r.status = 'succeeded'
"""),
        write("models/marts/fct_refunds.yml", """models:
  - name: fct_refunds
    description: One row per refund that was paid out, in euro cents.
    columns:
      - name: refund_id
        data_tests: [unique, not_null]
      - name: order_id
        data_tests:
          - relationships:
              to: ref('fct_orders')
              field: order_id
"""),
        write("tests/assert_refund_not_above_order.sql", """select o.order_id
from {{ ref('fct_orders') }} o
join {{ ref('fct_refunds') }} r using (order_id)
group by o.order_id, o.total_cents
having sum(r.amount_cents) > o.total_cents
"""),
        bash("dbt build --select fct_refunds", _DBT_OK),
        bash("dbt ls --select fct_refunds+ --resource-type test --output name && psql \"$DEV_DB\" -c 'select count(*), sum(amount_cents) from dev.fct_refunds' -c \"select sum(amount) from (select distinct id, amount from raw.stripe_refunds where status='succeeded') x\"", """assert_refund_not_above_order
not_null_fct_refunds_refund_id
relationships_fct_refunds_order_id__order_id__ref_fct_orders_
unique_fct_refunds_refund_id
 count |   sum    
-------+----------
  8123 | 31882410
(1 row)

   sum    
----------
 31882410
(1 row)"""),
        todos("x explore raw.stripe_refunds", "x staging model", "x fct_refunds", "x tests", "x dbt build"),
        assistant("""`fct_refunds` is built: 8,123 refunds, 318,824.10 EUR, the same sum as the distinct succeeded rows of the raw table. `dbt build --select fct_refunds` gives PASS=5 (the model and four tests).

- `stg_stripe__refunds` keeps the newest load of each id (854 rows in the source are reloads).
- Only `succeeded` refunds count; 211 pending and 140 failed ones stay out.
- The check against the order compares the **sum** of an order's refunds with its total, so that several partial refunds can't exceed it either."""),
    ),
)

# --- a pull request with a review, longer
_CLIENT = '''"""A client for the weather service."""

import time

import httpx

_RETRIES = 3


class Client:
    def __init__(self, base_url, *, timeout=10.0):
        self._http = httpx.Client(base_url=base_url, timeout=timeout)

    def forecast(self, city):
        for attempt in range(_RETRIES):
            response = self._http.get("/forecast", params={"q": city})
            if response.status_code == 429:
                time.sleep(2**attempt)
                continue
            response.raise_for_status()
            return response.json()
        raise RuntimeError("too many requests")
'''
_NOX = """nox > Running session lint
nox > Re-using existing virtual environment at .nox/lint.
nox > ruff check .
All checks passed!
nox > ruff format --check .
17 files already formatted
nox > Session lint was successful in a second.
nox > Running session tests-3.12
nox > Re-using existing virtual environment at .nox/tests-3-12.
nox > pytest -q
{pytest}
nox > Session tests-3.12 was successful in 3 seconds.
nox > Ran multiple sessions:
nox > * lint: success, took a second
nox > * tests-3.12: success, took 3 seconds"""
pr = Session(
    name="r4c_nox_review_comments_pr",
    about="Three review comments of a pull request are handled one by one, answered, pushed, and CI is watched until green.",
    type="development",
    branch="retry-after",
    steps=(
        user("Please work off the review on PR 88 (gh is logged in). Every comment needs either a change or an answer in its thread. nox before each push, CI has to be green at the end."),
        bash("gh pr view 88 --json title,headRefName,baseRefName,mergeStateStatus && gh api repos/acme/skyline/pulls/88/comments --jq '.[] | {id, path, line, user: .user.login, body}'", """{"baseRefName":"main","headRefName":"retry-after","mergeStateStatus":"BLOCKED","title":"Respect rate limits of the weather service"}
{"id":9001,"path":"src/skyline/client.py","line":18,"user":"tomasz","body":"The service sends Retry-After. Use it when it is there, the exponential guess only otherwise."}
{"id":9002,"path":"src/skyline/client.py","line":22,"user":"tomasz","body":"RuntimeError tells the caller nothing. Our own exception, please, with the remaining seconds on it."}
{"id":9003,"path":"src/skyline/client.py","line":12,"user":"ines","body":"Why 10 seconds? The old one had 30."}"""),
        task_create("Retry-After (9001)"), task_create("Own exception (9002)"), task_create("Answer about the timeout (9003)"), task_create("nox, push, CI"),
        task_update(1, "in_progress"),
        read("src/skyline/client.py", _CLIENT),
        read("tests/test_client.py", '''import httpx
import pytest

from skyline.client import Client


@pytest.fixture
def client(respx_mock):
    return Client("https://weather.test")


def test_forecast(client, respx_mock):
    respx_mock.get("/forecast").respond(json={"temp": 7})
    assert client.forecast("Porto") == {"temp": 7}
'''),
        bash("git log --oneline main..HEAD; git log -S'timeout' --oneline -- src/skyline/client.py; git show 77ad0e1 --stat --format='%h %s%n%n%b'", """3f9a120 Respect rate limits of the weather service
3f9a120 Respect rate limits of the weather service
77ad0e1 Lower the timeout of the weather client
77ad0e1 Lower the timeout of the weather client

The page gives up after 12 s (gateway), so waiting 30 s only kept workers busy.
See incident 2025-11-03.

 src/skyline/client.py | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)"""),
        multi_edit("src/skyline/client.py",
                   ("_RETRIES = 3\n", '_RETRIES = 3\n_LONGEST_WAIT = 8.0  # the gateway gives up after 12 s\n\n\nclass RateLimited(Exception):\n    """The service asks to wait; `remaining` seconds as far as it said."""\n\n    def __init__(self, remaining):\n        super().__init__(f"rate limited, {remaining:.0f} s remaining")\n        self.remaining = remaining\n'),
                   ("                time.sleep(2**attempt)\n                continue\n", "                wait = _asked_to_wait(response, 2.0**attempt)\n                if wait > _LONGEST_WAIT or attempt == _RETRIES - 1:\n                    raise RateLimited(wait)\n                time.sleep(wait)\n                continue\n"),
                   ('        raise RuntimeError("too many requests")\n', '')),
        edit("src/skyline/client.py", "            return response.json()\n", '''            return response.json()


def _asked_to_wait(response, default):
    """The seconds of Retry-After, which is a number or a date."""
    value = response.headers.get("Retry-After")
    if value is None:
        return default
    if value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return default
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
'''),
        edit("src/skyline/client.py", "import time\n", "import time\nfrom datetime import UTC, datetime\nfrom email.utils import parsedate_to_datetime\n"),
        task_update(1, "completed"), task_update(2, "in_progress"),
        edit("tests/test_client.py", "from skyline.client import Client\n", "from skyline.client import Client, RateLimited\n"),
        edit("tests/test_client.py", '    assert client.forecast("Porto") == {"temp": 7}\n', '''    assert client.forecast("Porto") == {"temp": 7}


@pytest.mark.parametrize(("header", "slept"), [({"Retry-After": "5"}, 5.0), ({}, 1.0), ({"Retry-After": "soon"}, 1.0)])
def test_waits_as_asked(client, respx_mock, monkeypatch, header, slept):
    waits = []
    monkeypatch.setattr("skyline.client.time.sleep", waits.append)
    respx_mock.get("/forecast").mock(side_effect=[httpx.Response(429, headers=header), httpx.Response(200, json={})])
    client.forecast("Porto")
    assert waits == [slept]


def test_too_long_a_wait_is_handed_to_the_caller(client, respx_mock):
    respx_mock.get("/forecast").respond(429, headers={"Retry-After": "60"})
    with pytest.raises(RateLimited) as caught:
        client.forecast("Porto")
    assert caught.value.remaining == 60


def test_gives_up_after_three_attempts(client, respx_mock, monkeypatch):
    monkeypatch.setattr("skyline.client.time.sleep", lambda _: None)
    route = respx_mock.get("/forecast").respond(429)
    with pytest.raises(RateLimited):
        client.forecast("Porto")
    assert route.call_count == 3
'''),
        bash("nox", """nox > Running session lint
nox > Re-using existing virtual environment at .nox/lint.
nox > ruff check .
tests/test_client.py:17:101: E501 Line too long (120 > 100)
tests/test_client.py:21:101: E501 Line too long (116 > 100)
Found 2 errors.
nox > Command ruff check . failed with exit code 1
nox > Session lint failed.
nox > Running session tests-3.12
nox > Re-using existing virtual environment at .nox/tests-3-12.
nox > pytest -q
..........................                                               [100%]
26 passed in 1.88s
nox > Session tests-3.12 was successful in 3 seconds.
nox > Ran multiple sessions:
nox > * lint: failed
nox > * tests-3.12: success, took 3 seconds""", 1),
        bash("ruff format tests/test_client.py && ruff check .", "1 file reformatted\nAll checks passed!"),
        bash("grep -rn 'RuntimeError' src/ docs/", "docs/errors.md:9:`Client.forecast` raises `RuntimeError` when the service is rate limited."),
        edit("docs/errors.md", "raises `RuntimeError` when the service is rate limited.", "raises `RateLimited` when the service is rate limited; `remaining` holds the seconds to wait."),
        bash("nox", _NOX.format(pytest="..........................                                               [100%]\n26 passed in 1.86s")),
        task_update(2, "completed"), task_update(4, "in_progress"),
        bash("git add -A && git commit -qm 'Respect Retry-After, raise RateLimited' && git fetch -q && git rev-list --left-right --count origin/main...HEAD && git push", "0\t2\nTo github.com:acme/skyline.git\n   3f9a120..a7710cd  retry-after -> retry-after"),
        bash("R=repos/acme/skyline/pulls/88/comments; gh api $R/9001/replies -f body='Done in a7710cd: Retry-After as seconds or as a date, 2^n only without it. Waits above 8 s are not slept, the caller gets RateLimited.' --jq .id && gh api $R/9002/replies -f body='Done in a7710cd: RateLimited with .remaining; docs/errors.md follows.' --jq .id", "9104\n9105"),
        task_update(3, "in_progress"),
        bash("gh api repos/acme/skyline/pulls/88/comments/9003/replies -f body='That came before this PR, with 77ad0e1: the gateway gives up after 12 s, so 30 s only kept workers busy (incident 2025-11-03). I left it.' --jq .id", "9106"),
        task_update(3, "completed"),
        background("bz09aa", "gh pr checks 88 --watch"),
        assistant("All three threads have an answer and the changes are pushed. CI runs; waiting for its result in the background."),
        background_ended("bz09aa", "gh pr checks 88 --watch", 1),
        bash("gh pr checks 88; gh run view 55102 --log-failed | tail -12", """lint	pass	21s	https://github.com/acme/skyline/actions/runs/55102/job/1	
tests (3.12)	pass	48s	https://github.com/acme/skyline/actions/runs/55102/job/2	
tests (3.10)	fail	39s	https://github.com/acme/skyline/actions/runs/55102/job/3	
tests (3.10)	pytest	2026-03-02T09:05:40Z ==================================== ERRORS ====================================
tests (3.10)	pytest	2026-03-02T09:05:40Z ____________________ ERROR collecting tests/test_client.py _____________________
tests (3.10)	pytest	2026-03-02T09:05:40Z ImportError while importing test module '/home/runner/skyline/tests/test_client.py'.
tests (3.10)	pytest	2026-03-02T09:05:40Z src/skyline/client.py:4: in <module>
tests (3.10)	pytest	2026-03-02T09:05:40Z     from datetime import UTC, datetime
tests (3.10)	pytest	2026-03-02T09:05:40Z E   ImportError: cannot import name 'UTC' from 'datetime' (/opt/hostedtoolcache/Python/3.10.16/x64/lib/python3.10/datetime.py)
tests (3.10)	pytest	2026-03-02T09:05:40Z =========================== short test summary info ============================
tests (3.10)	pytest	2026-03-02T09:05:40Z ERROR tests/test_client.py
tests (3.10)	pytest	2026-03-02T09:05:40Z 1 error in 0.61s"""),
        says("`datetime.UTC` is 3.11 and later; the package supports 3.10. Locally nox only had 3.12. And there's a second 3.10 trap: a bad date makes parsedate_to_datetime raise TypeError in old versions (before 3.10 only, so that one is fine)."),
        multi_edit("src/skyline/client.py", ("from datetime import UTC, datetime\n", "from datetime import datetime, timezone\n"), ("datetime.now(UTC)", "datetime.now(timezone.utc)")),
        bash("uv python install 3.10 -q; nox -s lint tests-3.10 tests-3.12", """nox > Running session lint
nox > Re-using existing virtual environment at .nox/lint.
nox > ruff check .
All checks passed!
nox > ruff format --check .
17 files already formatted
nox > Session lint was successful in a second.
nox > Running session tests-3.10
nox > Creating virtual environment (uv) using python3.10 in .nox/tests-3-10
nox > uv pip install -e .[test]
nox > pytest -q
..........................                                               [100%]
26 passed in 2.04s
nox > Session tests-3.10 was successful in 9 seconds.
nox > Running session tests-3.12
nox > Re-using existing virtual environment at .nox/tests-3-12.
nox > pytest -q
..........................                                               [100%]
26 passed in 1.85s
nox > Session tests-3.12 was successful in 3 seconds.
nox > Ran multiple sessions:
nox > * lint: success, took a second
nox > * tests-3.10: success, took 9 seconds
nox > * tests-3.12: success, took 3 seconds"""),
        bash("git commit -qam 'Run on 3.10 again' && git push && gh pr checks 88 --watch --interval 20", """To github.com:acme/skyline.git
   a7710cd..0be4411  retry-after -> retry-after
Refreshing checks status every 20 seconds. Press Ctrl+C to quit.

All checks were successful
0 cancelled, 0 failing, 3 successful, 0 skipped, and 0 pending checks

   NAME          DESCRIPTION  ELAPSED  URL
✓  lint                       20s      https://github.com/acme/skyline/actions/runs/55109/job/1
✓  tests (3.10)               41s      https://github.com/acme/skyline/actions/runs/55109/job/2
✓  tests (3.12)               47s      https://github.com/acme/skyline/actions/runs/55109/job/3"""),
        task_update(4, "completed"),
        bash("gh pr view 88 --json mergeStateStatus,reviewDecision && gh pr comment 88 --body 'Review handled: Retry-After is respected, RateLimited replaces RuntimeError (docs/errors.md follows), the timeout is explained in its thread. Tested with nox on 3.10 and 3.12.'", "{\"mergeStateStatus\":\"BLOCKED\",\"reviewDecision\":\"CHANGES_REQUESTED\"}\nhttps://github.com/acme/skyline/pull/88#issuecomment-40112"),
        assistant("""The review on #88 is worked off and CI is green (lint, 3.10, 3.12).

| Comment | What happened |
|---|---|
| tomasz, Retry-After | used when present (seconds or date), otherwise 1, 2, 4 s |
| tomasz, RuntimeError | new `RateLimited` with `remaining`, the seconds the service asked for |
| ines, why 10 s | answered: 77ad0e1, the gateway gives up after 12 s; unchanged |

The first push broke 3.10 (`datetime.UTC`), fixed in 0be4411 and run under both versions in nox. GitHub still shows BLOCKED because tomasz requested changes; he will have to approve."""),
    ),
)

SESSIONS = (polish, zephyr, go_plan, hpa, pt_question, elixir, cpp, dbt, pr)
INTENDED = {one.name: "good" for one in SESSIONS}
