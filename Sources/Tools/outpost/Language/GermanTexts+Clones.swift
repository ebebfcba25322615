extension GermanTexts {
    /// The texts of clones and their keys.
    static let clones: [String: String] = [
        "Take a service, or a part of it, offline.": "Einen Dienst oder einen Teil davon offline nehmen.",
        """
        Without --query, the clone holds everything that can be read: entity sets, singletons, contained \
        entities, and relations without a foreign key. Omitted parts are listed with the queries that would \
        bring them.
        """:
            """
        Ohne --query enthält der Klon alles, was gelesen werden kann: Entitätsmengen, Singletons, enthaltene \
        Entitäten und Beziehungen ohne Fremdschlüssel. Ausgelassene Teile werden mit den Abfragen \
        aufgelistet, die sie bringen würden.
        """,
        """
        The store is encrypted with a generated key. The key is kept in a file that only you can read \
        (~/.local/share/outpost/keys; see 'outpost keys list'). With --key-file or --passphrase, you give another \
        one. Anybody with that file can read the clone.
        """:
            """
        Der Speicher ist mit einem erzeugten Schlüssel verschlüsselt. Der Schlüssel steht in einer Datei, \
        die nur das eigene Konto lesen kann (~/.local/share/outpost/keys; siehe 'outpost keys list'). Mit \
        --key-file oder --passphrase gilt ein anderer. Wer diese Datei hat, kann den Klon lesen.
        """,
        """
        The clone keeps the header fields, options, language and user, encrypted, for each later push, pull and \
        sync. It does not keep passwords, tokens, keys and --trust: give them again.
        """:
            """
        Der Klon behält Kopffelder, Optionen, Sprache und Benutzer, verschlüsselt, für jedes spätere push, \
        pull und sync. Kennwörter, Token, Schlüssel und --trust behält er nicht: sie sind erneut anzugeben.
        """,
        "The root of the service.": "Die Wurzel des Dienstes.",
        "The new directory; the default is the name of the service.":
            "Das neue Verzeichnis; ohne Angabe heißt es wie der Dienst.",
        "query": "Abfrage",
        "A query to keep offline, with a name; may be repeated.":
            "Eine Abfrage mit Namen, die offline gehalten wird; mehrfach möglich.",
        "The group in which these queries are pulled.": "Die Gruppe, in der diese Abfragen abgeholt werden.",
        "Also load the streams of the entities, such as pictures.":
            "Auch die Streams der Entitäten laden, etwa Bilder.",
        """
        A query with the same rows for every user. They stay when another user takes over the clone. May be \
        repeated.
        """:
            """
        Eine Abfrage, deren Zeilen für alle Benutzer gleich sind: sie bleiben, wenn ein anderer Benutzer den \
        Klon übernimmt. Mehrfach möglich.
        """,
        "Do not ask before a large download.": "Vor einem großen Download nicht fragen.",
        "Go on even if the rows may not fit on the disk.":
            "Auch dann weitermachen, wenn die Zeilen vielleicht nicht auf die Platte passen.",
        "Only show the planned download.": "Den geplanten Download nur zeigen.",
        "Protect the store with a passphrase; the command asks for it.":
            "Den Speicher mit einer Passphrase schützen; der Befehl fragt danach.",
        "--passphrase and --key-file exclude each other.": "--passphrase und --key-file schließen einander aus.",
        "Two parts are named '%1'.": "Zwei Teile heißen '%1'.",
        "--shared %1: no part has that name.": "--shared %1: kein Teil heißt so.",
        "Asking %1 how much there is": "%1 wird nach der Menge der Daten gefragt",
        "--shared %1: the service has no entity set of that name.":
            "--shared %1: der Dienst hat keine Entitätsmenge dieses Namens.",
        "List its entity sets: outpost clone %1 --dry-run":
            "Seine Entitätsmengen auflisten: outpost clone %1 --dry-run",
        "Left out": "Ausgelassen",
        "A query is given as NAME=QUERY, not '%1'.": "Eine Abfrage wird als NAME=ABFRAGE angegeben, nicht als '%1'.",
        "For example: 'open=Orders?$filter=ShippedDate eq null'":
            "Zum Beispiel: 'open=Orders?$filter=ShippedDate eq null'",
        "they can be read through others or with a filter alone":
            "sie nur über andere oder mit einem Filter zu lesen sind",
        "their entities have no key": "ihre Entitäten keinen Schlüssel haben",
        "the metadata do not declare their types": "die Metadaten ihre Typen nicht deklarieren",
        "Left out, since %1: %2": "Ausgelassen, weil %1: %2",
        "Query": "Abfrage",
        "Rows": "Zeilen",
        "unknown": "unbekannt",
        "row": "Zeile",
        "rows": "Zeilen",
        "queries": "Abfragen",
        "entity set": "Entitätsmenge",
        "entity sets": "Entitätsmengen",
        "%1 with %2": "%1 mit %2",
        "This takes %1 from %2. Go on?": "Das lädt %1 von %2. Weiter?",
        "This takes %1 from %2.": "Das lädt %1 von %2.",
        "%1, or everything with --all.": "%1, oder alles mit --all.",
        "Take a part of it with --query": "Einen Teil davon nehmen mit --query",
        "Take less of it by filters in the queries": "Mit Filtern in den Abfragen weniger nehmen",
        "%1 may take %2, and %3 has %4 left.": "%1 brauchen vielleicht %2, und in %3 sind noch %4 frei.",
        "%1, make room, or go on with --anyway.": "%1, Platz schaffen oder mit --anyway weitermachen.",
        "Cloned %1 of %2 (%3) into %4.": "%1 aus %2 (%3) nach %4 geklont.",
        "What is complete is kept in %1": "Vollständiges bleibt in %1 erhalten",
        "%1; go on with: outpost pull %2": "%1; weiter mit: outpost pull %2",
        "%1\n%2; go on with: outpost pull %3": "%1\n%2; weiter mit: outpost pull %3",
        "Free unused room in the files of a clone.": "Ungenutzten Platz in den Dateien eines Klons freigeben.",
        """
        Removes streams of deleted entities, pages of interrupted downloads and free pages of the database. \
        Visible data does not change.
        """:
            """
        Entfernt Streams gelöschter Entitäten, Seiten unterbrochener Downloads und freie Seiten der \
        Datenbank. Sichtbare Daten ändern sich nicht.
        """,
        "Making %1 small": "%1 wird verkleinert",
        "%1 has %2 bytes now, %3 fewer.": "%1 hat jetzt %2 Bytes, %3 weniger.",
        "Give a clone on a shared device to another user.":
            "Einen Klon auf einem gemeinsamen Gerät einem anderen Benutzer geben.",
        """
        All rows of the previous user are removed, except those of queries with --shared. The next pull brings \
        the rows of the new user, with the credentials of that user.
        """:
            """
        Alle Zeilen des vorherigen Benutzers werden entfernt, außer denen von Abfragen mit --shared. Das \
        nächste Abholen bringt die Zeilen des neuen Benutzers, mit dessen Anmeldung.
        """,
        """
        Pending changes of the previous user are not lost: without --pending, the clone stays with its user. \
        --pending push sends them first, with the credentials of the previous user (--user, --token-file). \
        --pending discard gives them up.
        """:
            """
        Ausstehende Änderungen des vorherigen Benutzers gehen nicht verloren: ohne --pending bleibt der Klon \
        bei seinem Benutzer. --pending push sendet sie zuerst, mit der Anmeldung des vorherigen Benutzers \
        (--user, --token-file). --pending discard gibt sie auf.
        """,
        """
        Without a name, the user of the clone is shown. --to-nobody removes the user and his rows, and the next \
        'hand-over' names another one. 'outpost list' shows the users of all clones.
        """:
            """
        Ohne Namen wird der Benutzer des Klons gezeigt. --to-nobody entfernt den Benutzer und seine Zeilen, \
        und das nächste 'hand-over' nennt einen anderen. 'outpost list' zeigt die Benutzer aller Klone.
        """,
        "The new user.": "Der neue Benutzer.",
        "Remove the user, and give the clone to nobody yet.":
            "Den Benutzer entfernen und den Klon noch niemandem geben.",
        "Pending changes: 'refuse' leaves the clone with its user, 'push' sends them first, 'discard' gives them up.":
            """
        Ausstehende Änderungen: 'refuse' lässt den Klon bei seinem Benutzer, 'push' sendet sie zuerst, \
        'discard' gibt sie auf.
        """,
        "Give a name or --to-nobody, not both.": "Einen Namen oder --to-nobody angeben, nicht beides.",
        "%1 was taken from %2, and is the clone of nobody.": "%1 wurde %2 genommen und gehört niemandem.",
        "%1 is the clone of nobody.": "%1 gehört niemandem.",
        "%1 is the clone of %2.": "%1 gehört %2.",
        "%1 is the clone of %2 now.": "%1 gehört jetzt %2.",
        "Kept %1 of %2.": "%1 von %2 behalten.",
        "Bring the rest with: outpost pull %1": "Den Rest abholen mit: outpost pull %1",
        "nobody": "niemandem",
        "keys": "Schlüssel",
        "List, make and remove the keys of clones.": "Die Schlüssel von Klonen auflisten, anlegen und entfernen.",
        """
        The keys of 'clone' and 'rekey' are kept in files that only you can read (~/.local/share/outpost/keys). They \
        stay until 'keys remove'. A copy of a clone, on a stick or in a backup, needs the key from the time of the \
        copy.
        """:
            """
        Die Schlüssel von 'clone' und 'rekey' stehen in Dateien, die nur das eigene Konto lesen kann \
        (~/.local/share/outpost/keys). Sie bleiben bis 'keys remove'. Eine Kopie eines Klons, auf einem \
        Stick oder in einer Sicherung, braucht den Schlüssel aus der Zeit des Kopierens.
        """,
        "Show each key with the clones and vaults that use it.":
            "Jeden Schlüssel mit den Klonen und Tresoren zeigen, die ihn benutzen.",
        """
        Each key is tried at every place where a clone was made, opened or re-keyed. A copy that was never \
        opened is unknown. 'missing' is a place without a clone; 'other key' is a clone that was re-keyed or \
        replaced. The keys of the tool's log and cache are not listed.
        """:
            """
        Jeder Schlüssel wird an jedem Ort versucht, an dem ein Klon angelegt, geöffnet oder umgeschlüsselt \
        wurde. Eine nie geöffnete Kopie ist unbekannt. 'fehlt' ist ein Ort ohne Klon, 'anderer Schlüssel' \
        ein umgeschlüsselter oder ersetzter Klon. Die Schlüssel für Protokoll und Zwischenspeicher des \
        Werkzeugs werden nicht aufgelistet.
        """,
        "There are no keys in %1.": "In %1 gibt es keine Schlüssel.",
        "Create a file with a new key, for --key-file and --new-key-file.":
            "Eine Datei mit einem neuen Schlüssel anlegen, für --key-file und --new-key-file.",
        """
        Only you can read the new file; an existing file is never overwritten. Keep a copy in a safe place: \
        without the key, nothing opens the clone.
        """:
            """
        Nur das eigene Konto kann die neue Datei lesen; eine vorhandene Datei wird nie überschrieben. Eine \
        Kopie an einem sicheren Ort aufbewahren: ohne den Schlüssel öffnet nichts den Klon.
        """,
        "The new file.": "Die neue Datei.",
        "The key file %1 cannot be made: %2.": "Die Schlüsseldatei %1 kann nicht angelegt werden: %2.",
        "Name a file in a folder of your own. To use this one as it is: --allow-readable-secrets":
            "Eine Datei in einem eigenen Ordner nennen. Um diesen zu benutzen, wie er ist: --allow-readable-secrets",
        "Name another file.": "Eine andere Datei nennen.",
        "Made the key file %1.": "Die Schlüsseldatei %1 wurde angelegt.",
        "Keep a copy of it in a safe place: nothing else opens its clones.":
            "Eine Kopie an einem sicheren Ort aufbewahren: nichts anderes öffnet ihre Klone.",
        "Remove keys, after a list of the files that they open.":
            "Schlüssel entfernen, nach einer Liste der Dateien, die sie öffnen.",
        """
        A removed key cannot be restored, and nothing else opens its clones. Copies that were never opened are not \
        in the list. --stale removes the keys without a remaining place: all known files are missing or have other \
        keys.
        """:
            """
        Ein entfernter Schlüssel ist nicht wiederherzustellen, und nichts anderes öffnet seine Klone. Nie \
        geöffnete Kopien stehen nicht in der Liste. --stale entfernt Schlüssel, deren bekannte Orte alle \
        fehlen oder andere Schlüssel haben.
        """,
        "The names of the keys, as 'outpost keys list' shows them.":
            "Die Namen der Schlüssel, wie 'outpost keys list' sie zeigt.",
        "Remove the keys of missing clones.": "Die Schlüssel fehlender Klone entfernen.",
        "Do not ask.": "Nicht fragen.",
        "Name the keys, or give --stale for those of missing clones.":
            "Die Schlüssel nennen, oder --stale für die fehlender Klone angeben.",
        "There are no stale keys.": "Es gibt keine Schlüssel fehlender Klone.",
        "key": "Schlüssel",
        "%1; the files above cannot be read without them": "%1; die Dateien oben sind ohne sie nicht zu lesen",
        "Remove %1?": "Entfernen: %1?",
        "Nobody is here to be asked.": "Niemand ist da, der gefragt werden kann.",
        "Give --yes to remove the listed keys.": "Mit --yes werden die aufgelisteten Schlüssel entfernt.",
        "Removed %1.": "%1 entfernt.",
        "There is no key %1 in %2.": "Den Schlüssel %1 gibt es in %2 nicht.",
        "See which there are: outpost keys list": "Vorhandene zeigen: outpost keys list",
        "%1 is the key of the vault %2, which nothing else opens.":
            "%1 ist der Schlüssel des Tresors %2, den nichts anderes öffnet.",
        "To give the vault up: outpost vault destroy %1": "Um den Tresor aufzugeben: outpost vault destroy %1",
        "List the clones of this machine with their keys.": "Die Klone dieses Rechners mit ihren Schlüsseln auflisten.",
        """
        A clone is known from the moment when it is made or opened here. 'missing' is a directory that was \
        removed or moved; its key is kept until 'outpost keys remove --stale'. Clones with a passphrase or a key \
        file are not opened, and only their directory is shown.
        """:
            """
        Ein Klon ist bekannt, sobald er hier angelegt oder geöffnet wurde. 'fehlt' ist ein entferntes oder \
        verschobenes Verzeichnis; sein Schlüssel bleibt bis 'outpost keys remove --stale'. Klone mit \
        Passphrase oder Schlüsseldatei werden nicht geöffnet; nur ihr Verzeichnis wird gezeigt.
        """,
        "There is no clone yet. Make one with: outpost clone URL DIR":
            "Es gibt noch keinen Klon. Einen anlegen mit: outpost clone URL DIR",
        "Directory": "Verzeichnis",
        "User": "Benutzer",
        "State": "Zustand",
        "Key": "Schlüssel",
        "Change the key of a clone, without rewriting it.":
            "Den Schlüssel eines Klons ändern, ohne den Klon neu zu schreiben.",
        """
        Without an option, a new key is generated. It is kept in a file that only you can read \
        (~/.local/share/outpost/keys; see 'outpost keys list'). Anybody with that file can read the clone.
        """:
            """
        Ohne Option wird ein neuer Schlüssel erzeugt. Er steht in einer Datei, die nur das eigene Konto \
        lesen kann (~/.local/share/outpost/keys; siehe 'outpost keys list'). Wer diese Datei hat, kann den \
        Klon lesen.
        """,
        """
        Earlier copies of the clone still need the old key, and that key still opens them. No key is removed: \
        see 'outpost keys'.
        """:
            """
        Frühere Kopien des Klons brauchen weiter den alten Schlüssel, und er öffnet sie. Es wird kein \
        Schlüssel entfernt: siehe 'outpost keys'.
        """,
        "The directory of the clone.": "Das Verzeichnis des Klons.",
        "Protect the clone with a passphrase; the command asks for it.":
            "Den Klon mit einer Passphrase schützen; der Befehl fragt danach.",
        "Protect the clone with this key file, made by 'outpost keys new'. Any other content is a passphrase.":
            """
        Den Klon mit dieser Schlüsseldatei schützen, die 'outpost keys new' anlegt. Jeder andere Inhalt ist \
        eine Passphrase.
        """,
        "--passphrase and --new-key-file exclude each other.":
            "--passphrase und --new-key-file schließen einander aus.",
        "%1 has the new key, but could not record its place. %2":
            "%1 hat den neuen Schlüssel, aber dessen Ort wurde nicht vermerkt. %2",
        "Make room, and change it once more: outpost rekey DIR":
            "Platz schaffen und ihn noch einmal ändern: outpost rekey DIR",
        "The key of %1 was changed.": "Der Schlüssel von %1 wurde geändert.",
        "Copies of the clone that were made before need the old key":
            "Früher angefertigte Kopien des Klons brauchen den alten Schlüssel",
        "Copies of the clone that were made before need the old key, and so does %1":
            "Früher angefertigte Kopien des Klons brauchen den alten Schlüssel, ebenso %1",
        "%1. It stays among your keys as %2. To remove it: outpost keys remove %3":
            "%1. Er bleibt als %2 bei den eigenen Schlüsseln. Zum Entfernen: outpost keys remove %3",
        "passphrase": "Passphrase",
        "No key in %1 opens %2.": "Kein Schlüssel in %1 öffnet %2.",
        "Give its key: --key-file FILE": "Den Schlüssel angeben: --key-file DATEI",
        "%1 is not encrypted.": "%1 ist nicht verschlüsselt.",
        "That key does not open %1, and none of your keys does.":
            "Dieser Schlüssel öffnet %1 nicht, und keiner der eigenen.",
        "Give the key it was made with: --key-file FILE, or the right passphrase.":
            "Den Schlüssel angeben, mit dem er angelegt wurde: --key-file DATEI, oder die richtige Passphrase.",
        "Remove a clone and its key.": "Einen Klon und seinen Schlüssel entfernen.",
        """
        Changes that the service has not accepted are lost with a clone: it stays while there are any, unless \
        --discard is given. So are drafts and other data that only the clone has.
        """:
            """
        Änderungen, die der Dienst nicht angenommen hat, gehen mit einem Klon verloren: er bleibt, solange \
        es welche gibt, außer mit --discard. Das gilt auch für Entwürfe und andere Daten, die nur der Klon \
        hat.
        """,
        """
        A generated key is removed too, unless it opens another clone. A key file of your own stays, and so do \
        other files in the directory.
        """:
            """
        Ein erzeugter Schlüssel wird mit entfernt, außer er öffnet einen anderen Klon. Eine eigene \
        Schlüsseldatei bleibt, ebenso andere Dateien im Verzeichnis.
        """,
        "Remove it although changes wait in it, or although it cannot be opened.":
            "Auch entfernen, wenn Änderungen darin warten oder wenn er sich nicht öffnen lässt.",
        ", with %1 not pushed": ", mit %1 (nicht gesendet)",
        "Remove the clone in %1%2?": "Den Klon in %1%2 entfernen?",
        "To remove it all the same: outpost remove %1 --discard":
            "Um ihn trotzdem zu entfernen: outpost remove %1 --discard",
        "%1 in %2 %3 not pushed.": "%1 in %2 %3 nicht gesendet.",
        "is": "ist",
        "are": "sind",
        "Send them first: outpost push DIR\nTo lose them: outpost remove DIR --discard":
            "Zuerst senden: outpost push DIR\nUm sie zu verlieren: outpost remove DIR --discard",
        "%1 has %2 that no service has.": "%1 hat %2, die kein Dienst hat.",
        "drafts": "Entwürfe",
        """
        Activate the ones that you need: outpost draft activate DIR DRAFT
        To lose the rest: outpost remove DIR --discard
        """:
            """
        Die nötigen aktivieren: outpost draft activate DIR DRAFT
        Um den Rest zu verlieren: outpost remove DIR --discard
        """,
        " and its key": " und seinen Schlüssel",
        "Removed the clone in %1%2.": "Entfernt: der Klon in %1%2.",
        "Its key stays, since it opens %1.": "Sein Schlüssel bleibt, denn er öffnet %1.",
        "The directory stays, since it holds other files.": "Das Verzeichnis bleibt, denn es enthält andere Dateien.",
        "Repair a damaged clone, and keep its pending changes.":
            "Einen beschädigten Klon reparieren und seine ausstehenden Änderungen behalten.",
        """
        Indexes are rebuilt from the rows, and references to missing rows are removed. The next pull downloads \
        doubtful rows again. The queue of changes stays.
        """:
            """
        Indizes werden aus den Zeilen neu gebaut, und Verweise auf fehlende Zeilen entfernt. Das nächste \
        Abholen lädt zweifelhafte Zeilen neu. Die Warteschlange der Änderungen bleibt.
        """,
        """
        If bytes of the files are damaged ('outpost verify' names the places), readable data is saved into new \
        files, pending changes first. The damaged files are kept beside them, and the next pull brings the lost \
        rows. If the saved changes may be outdated, they are held until 'outpost push --from-copy' sends them.
        """:
            """
        Sind Bytes der Dateien beschädigt ('outpost verify' nennt die Stellen), werden lesbare Daten in neue \
        Dateien gerettet, ausstehende Änderungen zuerst. Die beschädigten Dateien bleiben daneben, und das \
        nächste Abholen bringt die verlorenen Zeilen. Sind die geretteten Änderungen vielleicht veraltet, \
        werden sie zurückgehalten, bis 'outpost push --from-copy' sie sendet.
        """,
        "The root of the service, if the clone has lost its address.":
            "Die Wurzel des Dienstes, wenn der Klon dessen Adresse verloren hat.",
        "Reading %1": "%1 wird gelesen",
        "Saving the readable data of %1": "Die lesbaren Daten von %1 werden gerettet",
        "%1 %2 and %3 rows were saved into new files.": "%1 %2 und %3 Zeilen wurden in neue Dateien gerettet.",
        "%1 could not be read in %2 %3.": "%1 nicht lesbar in %2 %3.",
        "The damaged files are kept as %1.": "Die beschädigten Dateien bleiben als %1.",
        "Mending %1": "%1 wird repariert",
        "%1 has lost the address of its service.": "%1 hat die Adresse seines Dienstes verloren.",
        "Name it: outpost repair DIR --service URL": "Sie nennen: outpost repair DIR --service URL",
        "Nothing of %1 was saved. %2": "Von %1 wurde nichts gerettet. %2",
        "Its files are as they were. Keep them, and make another clone: outpost clone URL NEW-DIR":
            "Seine Dateien sind unverändert. Sie aufheben und einen anderen Klon anlegen: outpost clone URL NEW-DIR",
        "There was nothing to mend in %1.": "In %1 gab es nichts zu reparieren.",
        "Check a whole clone for damage.": "Einen ganzen Klon auf Schäden prüfen.",
        """
        Every byte of the files is read, then rows, indexes and the queue of changes. Nothing is changed. The \
        exit code is 1 if something is damaged. Pending changes can often still be read: 'outpost status'.
        """:
            """
        Jedes Byte der Dateien wird gelesen, dann Zeilen, Indizes und die Warteschlange der Änderungen. \
        Nichts wird verändert. Der Rückgabewert ist 1, wenn etwas beschädigt ist. Ausstehende Änderungen \
        sind oft noch lesbar: 'outpost status'.
        """,
        "%1 is damaged in %2 %3.": "%1 ist an %2 %3 beschädigt.",
        "Keep a copy of it. 'outpost repair DIR' saves the readable data, pending changes first.":
            """
        Eine Kopie davon aufheben. 'outpost repair DIR' rettet die lesbaren Daten, ausstehende Änderungen \
        zuerst.
        """,
        "%1 is whole.": "%1 ist unbeschädigt.",
        "Accept secrets in files that others can read or replace.":
            "Geheimnisse in Dateien annehmen, die andere lesen oder ersetzen können.",
        "A file with the key, made by 'outpost keys new'. Any other content is a passphrase.":
            "Eine Datei mit dem Schlüssel, die 'outpost keys new' anlegt. Jeder andere Inhalt ist eine Passphrase.",
        "Passphrase of %1: ": "Passphrase von %1: ",
        "%1 is protected by a passphrase, and nobody is here to be asked.":
            "%1 ist durch eine Passphrase geschützt, und niemand ist da, der gefragt werden kann.",
        "Give a file that holds it: --key-file FILE": "Eine Datei angeben, die sie enthält: --key-file DATEI",
        "%1 is protected by a key file.": "%1 ist durch eine Schlüsseldatei geschützt.",
        "Name it: --key-file FILE": "Sie nennen: --key-file DATEI",
        "The key file %1 is empty.": "Die Schlüsseldatei %1 ist leer.",
        "It holds a key or a passphrase. Make a key with: outpost keys new FILE":
            "Sie enthält einen Schlüssel oder eine Passphrase. Einen Schlüssel anlegen mit: outpost keys new FILE",
        "%1 is a file, and no directory of a clone.": "%1 ist eine Datei, kein Verzeichnis eines Klons.",
        "Name the directory of a clone. A database is served with: outpost serve %1":
            "Das Verzeichnis eines Klons nennen. Eine Datenbank wird angeboten mit: outpost serve %1",
        "%1 may not be entered.": "%1 darf nicht betreten werden.",
        "It belongs to the user who made the clone.": "Es gehört dem Benutzer, der den Klon angelegt hat.",
        "%1 is not a clone.": "%1 ist kein Klon.",
        "Make one with: outpost clone URL %1": "Einen anlegen mit: outpost clone URL %1",
        "The clone in %1 was interrupted before it held anything.":
            "Der Klon in %1 wurde unterbrochen, bevor er etwas enthielt.",
        "Make it again with: outpost clone URL %1": "Ihn neu anlegen mit: outpost clone URL %1",
        "%1 is damaged: it must say where the store's key is.":
            "%1 ist beschädigt: es muss den Ort des Schlüssels nennen.",
        "%1 does not name a key of a clone. A key of a clone is named clone- and a UUID in small letters.":
            "%1 nennt keinen Schlüssel eines Klons. Er heißt clone- und eine UUID in Kleinbuchstaben.",
        "%1 cannot be read: %2.": "%1 ist nicht lesbar: %2.",
        "If you have the key in a file, name it: --key-file FILE":
            "Wenn der Schlüssel in einer Datei steht, sie nennen: --key-file DATEI",
        "%1 is a clone already.": "%1 ist schon ein Klon.",
        "Bring it up to date with: outpost pull DIR": "Auf den neuesten Stand bringen mit: outpost pull DIR",
        "%1 holds a store, but outpost.json beside it is missing, which says where the key is.":
            "%1 enthält einen Speicher, aber outpost.json daneben fehlt, das den Ort des Schlüssels nennt.",
        "Put it back from a copy. If you have the key in a file, name it: --key-file FILE":
            "Es aus einer Kopie zurücklegen. Wenn der Schlüssel in einer Datei steht, sie nennen: --key-file DATEI",
        "Is the disk full, or the directory somebody else's?":
            "Ist die Platte voll, oder gehört das Verzeichnis jemand anderem?",
        "%1 is not a directory.": "%1 ist kein Verzeichnis.",
        "Name another one after the URL.": "Nach der URL ein anderes nennen.",
        "%1 holds a store that may not be empty, although its outpost.json says that its making was interrupted.":
            """
        %1 enthält einen Speicher, der vielleicht nicht leer ist, obwohl sein outpost.json das Anlegen \
        unterbrochen nennt.
        """,
        "Nothing was removed. Name another directory after the URL, or remove this one yourself.":
            "Es wurde nichts entfernt. Nach der URL ein anderes Verzeichnis nennen, oder dieses von Hand entfernen.",
        "Another command is making a clone in %1.": "Ein anderer Befehl legt gerade einen Klon in %1 an.",
        "Wait until it is done, or name another directory after the URL.":
            "Warten, bis er fertig ist, oder nach der URL ein anderes Verzeichnis nennen.",
        "vault %1": "Tresor %1",
        "a vault that is gone": "ein Tresor, den es nicht mehr gibt",
        "opens nothing that is known": "öffnet nichts Bekanntes",
        "not known; it shows once its clone is opened": "unbekannt; zeigt sich, sobald sein Klon geöffnet wird",
        "%1 (missing)": "%1 (fehlt)",
        "%1 (other key)": "%1 (anderer Schlüssel)",
        " with %1 not pushed": " mit %1, nicht gesendet",
        "It is kept by the user who made the clone. With the key in a file: --key-file FILE":
            "Ihn hat der Benutzer, der den Klon angelegt hat. Mit dem Schlüssel in einer Datei: --key-file DATEI",
        "key file": "Schlüsseldatei",
        "missing": "fehlt",
        "nothing to push": "nichts zu senden",
        "%1 not pushed": "%1 nicht gesendet",
        "Its key is in %1; keep that file safe.": "Sein Schlüssel steht in %1; diese Datei sicher aufbewahren.",
        "It is protected by the passphrase in %1, since that file has no header of a key file.":
            "Er ist durch die Passphrase in %1 geschützt, denn diese Datei hat keinen Kopf einer Schlüsseldatei.",
        "New passphrase: ": "Neue Passphrase: ",
        "A passphrase is needed, and nobody is here to be asked.":
            "Eine Passphrase ist nötig, und niemand ist da, der gefragt werden kann.",
        "The two passphrases differ.": "Die beiden Passphrasen sind verschieden.",
        "It is protected by your passphrase.": "Er ist durch die Passphrase geschützt.",
        "Its key is kept in %1.": "Sein Schlüssel steht in %1.",
        "%1 of %2": "%1 von %2",
        "unsent change": "nicht gesendete Änderung",
        "unsent changes": "nicht gesendete Änderungen",
        "Everything that was complete is kept.": "Vollständiges bleibt erhalten.",
        "%1 %2 kept.": "Erhalten %2: %1.",
        "Interrupted. %1 Go on with: %2": "Unterbrochen. %1 Weiter mit: %2",
    ]
}
