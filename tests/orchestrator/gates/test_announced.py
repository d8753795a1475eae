"""Announcements of the agent's own next step, in many words and languages, and what only looks like one."""

import pytest

from orchestrator.gates.power_steering.rules.unfinished import announced_in

ANNOUNCED = """
The parser is done. Now I need to implement update and delete.
Next I'll wire up the routes.
Let me fix these one by one.
The build passes. I still have to update the docs.
Two of three endpoints are in; remaining: the export.
That covers the reader. Moving on to the writer.
Tests are green. Now for the migration.
Good, the root cause is the cache key. I'll patch `keys.py` and rerun the suite.
I've read the config; let me now look at the loader.
Next up: the Windows build.
The schema is in place. Now let me add the resolver and its tests.
I'm going to refactor the client before touching the tests.
Okay, time to write the tests.
The first half works. I will do the second half next.
I found three failing tests. Fixing them now.
All of that is clear. Starting with the database layer.
I want to check the logs of the second pod before saying more.
Still to do: the retry logic.
The error handling has not been implemented yet.
With that in place, on to the README.
Two modules are done. On to `scheduler`, which has the intervals.
The number is right. Correcting that row now and running the suite again.
Three failures share a cause. Removing that rule, then another `dune test`.
まだテストを更新していません。
Continuing with the remaining two files.
Let's now add the missing index.
Then I'll run everything once more.
Als Nächstes schreibe ich die Tests für den Import.
Jetzt muss ich noch die Migration anpassen.
Ich kümmere mich jetzt um den Export.
Je vais maintenant corriger le contrôleur.
Il reste à écrire les tests.
Ahora voy a corregir el validador.
A continuación reviso el servicio de correo.
Agora vou atualizar os testes.
Ora aggiungo i test per il parser.
Nu ga ik de tests schrijven.
Teraz napiszę testy.
Теперь мне нужно обновить тесты.
Ora li sposto in un modulo e rilancio la suite.
Nu flyttar jag frågan till lagret. Sedan kör jag testerna.
Nu retter jeg de to filer.
Zostały dwa błędy. Teraz je poprawię i uruchomię wszystko ponownie.
Nu pas ik de drie aanroepen aan.
Сейчас исправлю импорт и запущу тесты.
Şimdi kalan iki testi düzeltiyorum.
次にテストを追加します。
接下来我会修复测试。
이제 테스트를 추가하겠습니다.
"""
NOT_ANNOUNCED = """
All done: the endpoint takes a cursor now.
I need to know from you which of the two to keep.
Before I go on I need your decision: is the old table still read?
Is the remaining column to be kept?
Die Daten liegen jetzt fora do servidor.
E guarde a chave também fora do cofre: sem ela nada funciona.
Sedan körde jag testerna en gång till.
Ora lo schermo mostra il totale.
Сейчас в таблице три строки.
Parsing now takes 3 ms.
書き換わるのはまだプッシュしていないコミットだけで、変わらないからです。
次に挙げる場合だけ注意してください。
途中で競合したら、直して次に進みます。
**Still to do (in TODO.md, as you wanted):**
The commit that only touched the documentation is left out.
Everything passes; nothing is left to do.
No follow-up is needed.
If you like, I can also add a dark mode.
I can add tests for the CLI as well if you want.
Let me know if the wording should change.
You will need to restart the worker after the deploy.
CI will run the integration tests on push.
The reviewer needs to approve it before the merge.
The client now retries three times, then raises.
The header `X-RateLimit-Remaining` shows how many calls remain.
Once you have merged it, the nightly job will pick it up.
I will not touch the generated files.
It used to fail when the file was missing; it now returns an empty list.
The README says how to run it.
I needed to update the lock file for that.
I had to change the order of the two calls.
The next release will contain the fix.
You could move the constants to the settings later.
Before, the loop still had to wait for the lock; that is gone.
The old flag is still accepted, with a warning.
The tests that were skipped on Windows are still skipped there.
The remaining three warnings come from a dependency.
Der Export läuft jetzt auch ohne Kopfzeile.
Wenn du möchtest, kann ich noch eine Option ergänzen.
Le rapport signale maintenant le serveur injoignable.
Ahora el formulario valida el correo.
Agora o botão respeita o tema.
テストはすべて通りました。
测试全部通过。
Done. Running it twice gives the same result.
Writing to the log no longer blocks.
The report, as asked, lists what is still open in the backlog of the team.
I would wait for the vendor's answer before changing this.
"""


@pytest.mark.parametrize("text", ANNOUNCED.strip().splitlines())
def test_an_announced_step_of_its_own_is_found(text):
    assert list(announced_in(text))


@pytest.mark.parametrize("text", NOT_ANNOUNCED.strip().splitlines())
def test_what_only_looks_like_one_is_not(text):
    assert list(announced_in(text)) == []
