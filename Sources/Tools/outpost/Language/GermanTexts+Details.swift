extension GermanTexts {
    /// The details within errors of libraries, which are English there.
    static let details: [String: String] = [
        "$expand=%1 cannot be kept offline.": "$expand=%1 kann nicht offline gehalten werden.",
        "$search takes no parameters. Put %1 into double quotes to search for the word.":
            "$search nimmt keine Parameter. %1 in doppelte Anführungszeichen setzen, um nach dem Wort zu suchen.",
        "%1 bytes of a page came without a row": "%1 Bytes einer Seite kamen ohne eine Zeile",
        "%1 is no name for a store.": "%1 ist kein Name für einen Speicher.",
        "%1 is not supported in it.": "%1 wird darin nicht unterstützt.",
        "%1 of %2 bytes arrived": "%1 von %2 Bytes kamen an",
        "%1 pages without rows came one after the other": "%1 Seiten ohne Zeilen kamen nacheinander",
        "%1 rows came, and %2": "%1 Zeilen kamen, und %2",
        """
        The store has format %1 of the encryption. It is brought to format %2 when it is opened while no other \
        program has it open.
        """:
            """
        Der Speicher hat das Format %1 der Verschlüsselung. Er kommt auf Format %2, wenn er geöffnet wird, während \
        kein anderes Programm ihn offen hat.
        """,
        "a staged page cannot be read: %1": "eine zwischengespeicherte Seite ist nicht lesbar: %1",
        "between 1 and %1 stores can be read at once.": "zwischen 1 und %1 Speicher können gemeinsam gelesen werden.",
        "expected an entity with a value for %1": "erwartet wird eine Entität mit einem Wert für %1",
        "it has more than %1 bytes": "er hat mehr als %1 Bytes",
        "it has no authorization endpoint that supports proof keys":
            "er hat keine Anmeldeadresse mit Nachweisschlüsseln",
        "it has no device authorization endpoint": "er hat keine Anmeldeadresse für Geräte",
        "it has no metadata that name a token endpoint": "er hat keine Metadaten, die eine Token-Adresse nennen",
        "it is no error of OAuth": "es ist kein Fehler von OAuth",
        "it is not a lock file of Outpost. Move it to another place":
            "sie ist keine Sperrdatei von Outpost. Sie an einen anderen Ort bringen",
        "it must read an entity set, a singleton, one entity, or a contained collection.":
            "sie muss eine Entitätsmenge, ein Singleton, eine Entität oder eine enthaltene Menge lesen.",
        "its entity set is not in the model": "ihre Entitätsmenge ist nicht im Modell",
        "its identifier has a query or a fragment": "seine Kennung hat eine Abfrage oder ein Fragment",
        "its metadata belongs to another issuer": "seine Metadaten gehören zu einem anderen Aussteller",
        "its parameter @%1 has no value.": "ihr Parameter @%1 hat keinen Wert.",
        "only $filter, $select and $expand are possible within $expand.":
            "in $expand sind nur $filter, $select und $expand möglich.",
        "request %1 does not name both ends of its relation": "die Anfrage %1 nennt nicht beide Enden ihrer Beziehung",
        "request %1 has no key": "die Anfrage %1 hat keinen Schlüssel",
        "request %1 has no kind or state": "die Anfrage %1 hat keine Art oder keinen Zustand",
        "request %1 names no action": "die Anfrage %1 nennt keine Aktion",
        "request %1 names no bound action": "die Anfrage %1 nennt keine gebundene Aktion",
        "request %1 names the entity set %2": "die Anfrage %1 nennt die Entitätsmenge %2",
        "the dependents of a deleted entity cannot be read: %1":
            "die Abhängigen einer gelöschten Entität sind nicht lesbar: %1",
        "the key property %1 of %2 states no MaxLength.": "die Schlüsseleigenschaft %1 von %2 nennt kein MaxLength.",
        "the metadata given for %1 do not match its tables":
            "die angegebenen Metadaten für %1 passen nicht zu den Tabellen",
        "the options of a request cannot be read: %1": "die Optionen einer Anfrage sind nicht lesbar: %1",
        "the parameter @%1 cannot be in a key. Use a condition instead, such as %2":
            "der Parameter @%1 kann nicht in einem Schlüssel stehen. Stattdessen eine Bedingung verwenden, etwa %2",
        "the secret store gave none": "der Schlüsselspeicher gab keinen heraus",
        "the secret store has no key of that name": "der Schlüsselspeicher hat keinen Schlüssel dieses Namens",
        "two of the stores mean different types by the namespace %1.":
            "zwei der Speicher meinen mit dem Namensraum %1 verschiedene Typen.",
    ]
}
