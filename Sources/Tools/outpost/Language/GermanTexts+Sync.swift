extension GermanTexts {
    /// The texts of synchronisation.
    static let sync: [String: String] = [
        "added": "neu",
        "removed": "entfernt",
        "changed": "geändert",
        "compatible: %1 %2 (%3): %4": "verträglich: %1 %2 (%3): %4",
        "incompatible: %1 %2 (%3): %4": "unverträglich: %1 %2 (%3): %4",
        "Download the changes of the service into a clone.": "Die Änderungen des Dienstes in einen Klon herunterladen.",
        """
        The clone keeps the header fields, options, language and user that it was made with; they apply here, \
        too. It does not keep passwords, tokens, keys and --trust: give them again.
        """:
            """
        Der Klon behält Kopffelder, Optionen, Sprache und Benutzer, mit denen er angelegt wurde; sie gelten \
        auch hier. Kennwörter, Token, Schlüssel und --trust behält er nicht: sie sind erneut anzugeben.
        """,
        "Only this query or group; may be repeated.": "Nur diese Abfrage oder Gruppe; mehrfach möglich.",
        "First read the metadata again, and apply their changes to the clone.":
            "Zuerst die Metadaten neu lesen und ihre Änderungen auf den Klon anwenden.",
        "refused": "abgelehnt",
        "Send the pending changes of a clone.": "Die ausstehenden Änderungen eines Klons senden.",
        """
        Changes are sent in order. A refused change goes to the error archive and holds up only its dependants; \
        the exit code is then 3.
        """:
            """
        Änderungen werden der Reihe nach gesendet. Eine abgelehnte Änderung kommt ins Fehlerarchiv und hält \
        nur von ihr abhängige auf; der Rückgabewert ist dann 3.
        """,
        """
        If a clone was copied, restored from a backup or reset to an earlier state, its changes may have been \
        sent already. They are held until you give --from-copy, unless the service is known to recognise \
        repeated requests. Moving a clone with 'mv' within its volume holds nothing.
        """:
            """
        Wurde ein Klon kopiert, aus einer Sicherung geholt oder auf einen früheren Stand gesetzt, sind seine \
        Änderungen vielleicht schon gesendet. Sie werden bis zur Angabe von --from-copy zurückgehalten, \
        außer der Dienst erkennt wiederholte Anfragen. Ein Klon, der mit 'mv' in seinem Dateisystem \
        verschoben wird, hält nichts zurück.
        """,
        "Only the changes of this category and the changes that they depend on; may be repeated.":
            "Nur die Änderungen dieser Kategorie und die, von denen sie abhängen; mehrfach möglich.",
        "Push, then pull.": "Senden, dann abholen.",
        """
        The maximum number of rows of a query. The default is twice the count of the service plus %1, or %2 \
        without a count.
        """:
            """
        Die höchste Anzahl von Zeilen einer Abfrage. Ohne Angabe das Doppelte der Zählung des Dienstes plus \
        %1, ohne Zählung %2.
        """,
        "Refuse a response with an unreadable value instead of leaving out the value.":
            "Eine Antwort mit einem unlesbaren Wert ablehnen, statt den Wert auszulassen.",
        "--max-rows is 1 or more.": "--max-rows ist mindestens 1.",
        "%1 %2 is missing, whose value is not kept": "%1 %2 fehlt, dessen Wert nicht aufbewahrt wird",
        "%1 '%2%3%4' instead of '%5%6%7'": "%1 '%2%3%4' statt '%5%6%7'",
        "%1 '%2%3%4' is new": "%1 '%2%3%4' ist neu",
        "--service-language %1 instead of %2": "--service-language %1 statt %2",
        "%1 instead of --user %2": "%1 statt --user %2",
        "--user %1 instead of --token-file": "--user %1 statt --token-file",
        "--token-file is missing": "--token-file fehlt",
        "The clone was made with other options: %1.": "Der Klon wurde mit anderen Optionen angelegt: %1.",
        """
        With other options, the service may show other rows, and the next pull would remove those that it leaves \
        out. Give the options of the clone, or make another clone. To go on with yours: --keep-options
        """:
            """
        Mit anderen Optionen zeigt der Dienst vielleicht andere Zeilen, und das nächste Abholen würde die \
        fehlenden entfernen. Die Optionen des Klons angeben, oder einen anderen Klon anlegen. Um mit den \
        neuen weiterzumachen: --keep-options
        """,
        "Use the header fields, options, language and user of this command from then on.":
            "Von nun an Kopffelder, Optionen, Sprache und Benutzer dieses Befehls benutzen.",
        "As the clone was made: %1": "Wie beim Anlegen des Klons: %1",
        """
        The policy for conflicts. 'fail' puts the change into the error archive. 'merge' combines both changes \
        unless they affect the same property. 'mine' sends the change again; 'theirs' gives it up. SET=policy is \
        for one entity set. May be repeated.
        """:
            """
        Die Regel für Konflikte. 'fail' legt die Änderung ins Fehlerarchiv. 'merge' verbindet beide \
        Änderungen, außer bei derselben Eigenschaft. 'mine' sendet die eigene noch einmal, 'theirs' gibt sie \
        auf. SET=regel gilt für eine Entitätsmenge. Mehrfach möglich.
        """,
        "Combine the changes of an entity into one request, and omit entities that were created and deleted.":
            """
        Die Änderungen einer Entität zu einer Anfrage verbinden und Entitäten auslassen, die angelegt und \
        gelöscht wurden.
        """,
        """
        A property with unique values of your own. If the response to a creation is lost, the tool finds the \
        entity by this property. May be repeated.
        """:
            """
        Eine Eigenschaft mit eindeutigen eigenen Werten. Geht die Antwort auf ein Anlegen verloren, findet \
        das Werkzeug die Entität damit. Mehrfach möglich.
        """,
        "Send the changes of a copied or restored clone, although another copy may have sent the same.":
            """
        Die Änderungen eines kopierten oder wiederhergestellten Klons senden, obwohl eine andere Kopie \
        dieselben gesendet haben kann.
        """,
        "%1 Send them all the same?": "%1 Trotzdem senden?",
        "--on-conflict: the service has no entity set %1.": "--on-conflict: der Dienst hat keine Entitätsmenge %1.",
        "List the entity sets: outpost status DIR": "Die Entitätsmengen auflisten: outpost status DIR",
        "--correlate: the service has no entity set %1.": "--correlate: der Dienst hat keine Entitätsmenge %1.",
        "--correlate: %1 has no property %2.": "--correlate: %1 hat keine Eigenschaft %2.",
        "List its properties: outpost query DIR '%1?$top=1'":
            "Die Eigenschaften auflisten: outpost query DIR '%1?$top=1'",
        "The user at the service; the command asks for the password.":
            "Der Benutzer beim Dienst; der Befehl fragt nach dem Kennwort.",
        "A file with the password of --user.": "Eine Datei mit dem Kennwort von --user.",
        "A file with a bearer token; it is read again if the service refuses the token.":
            "Eine Datei mit einem Bearer-Token; sie wird neu gelesen, wenn der Dienst das Token ablehnt.",
        """
        A header field for every request, such as 'X-Tenant: blue'; may be repeated. Other users of this machine \
        can see it.
        """:
            """
        Ein Kopffeld für jede Anfrage, etwa 'X-Tenant: blue'; mehrfach möglich. Andere Benutzer dieses \
        Rechners können es sehen.
        """,
        "A query option for every request, such as sap-client=100; may be repeated.":
            "Eine Abfrageoption für jede Anfrage, etwa sap-client=100; mehrfach möglich.",
        "The language of texts and messages, such as de-AT; also sent as sap-language.":
            "Die Sprache von Texten und Meldungen, etwa de-AT; auch als sap-language gesendet.",
        """
        Write requests and responses to standard error, without values. The levels are none, low (one line each), \
        medium (with names of fields and options) and high (with sizes of bodies).
        """:
            """
        Anfragen und Antworten in die Fehlerausgabe schreiben, ohne Werte: none, low (je eine Zeile), medium \
        (mit Namen von Feldern und Optionen) oder high (mit Größen der Inhalte).
        """,
        "Write values to the trace too: keys, queries, header fields and bodies. Show such a trace to nobody.":
            """
        Auch Werte in den Mitschnitt schreiben: Schlüssel, Abfragen, Kopffelder und Inhalte. Einen solchen \
        Mitschnitt niemandem zeigen.
        """,
        "--trace-values needs --trace with a level, such as high.":
            "--trace-values braucht --trace mit einer Stufe, etwa high.",
        "%1 The trace contains confidential values. Not every secret is left out.":
            "%1 Der Mitschnitt enthält vertrauliche Werte. Nicht jedes Geheimnis wird ausgelassen.",
        "A further host, with or without a port: its links are followed, without credentials. May be repeated.":
            "Ein weiterer Host, mit oder ohne Port: seinen Verweisen wird gefolgt, ohne Anmeldung. Mehrfach möglich.",
        "Send passwords, tokens and header fields without https, so that others in the network can read them.":
            "Kennwörter, Token und Kopffelder ohne https senden, sodass andere im Netz sie lesen können.",
        "Do not use cached metadata.": "Keine zwischengespeicherten Metadaten benutzen.",
        "--user and --token-file exclude each other.": "--user und --token-file schließen einander aus.",
        "--follow takes a host, such as data.example.com or data.example.com:8443.":
            "--follow nimmt einen Host, etwa data.example.com oder data.example.com:8443.",
        "--header: '%1' is no name of a header field, as X-Tenant is.":
            "--header: '%1' ist kein Name eines Kopffelds wie X-Tenant.",
        "--header: the value of %1 has characters that no header field may have.":
            "--header: der Wert von %1 hat Zeichen, die in keinem Kopffeld stehen dürfen.",
        "A password is needed for %1, and nobody is here to be asked.":
            "Für %1 ist ein Kennwort nötig, und niemand ist da, der gefragt werden kann.",
        "The service may have changed. Apply its changes: outpost pull DIR --metadata":
            "Der Dienst hat sich vielleicht geändert. Seine Änderungen anwenden: outpost pull DIR --metadata",
        "If the service has changed, apply its changes: outpost pull DIR --metadata":
            "Hat sich der Dienst geändert, seine Änderungen anwenden: outpost pull DIR --metadata",
        "%1: %2 received ": "%1: %2 empfangen ",
        "(%1 new, %2 changed, %3 removed)": "(%1 neu, %2 geändert, %3 entfernt)",
        "Pulled %1, %2.": "Abgeholt: %1, %2.",
        " and %1 more": " und %1 weitere",
        "The service has changed: %1%2": "Der Dienst hat sich geändert: %1%2",
        "Apply its changes: outpost pull %1 --metadata": "Seine Änderungen anwenden: outpost pull %1 --metadata",
        "accepted": "angenommen",
        " %1 in the error archive: %2 --failed": " %1 im Fehlerarchiv: %2 --failed",
        "Nothing to push.%1": "Nichts zu senden.%1",
        " as %1": " als %1",
        "unclear": "ungeklärt",
        "waiting": "wartet",
        ", %1 given up": ", %1 aufgegeben",
        "%1 in doubt, ": "%1 ungeklärt, ",
        "Pushed %1, %2 refused, %3%4 waiting%5.": "Gesendet: %1, %2 abgelehnt, %3%4 wartend%5.",
        "The service does not take a locked change for now. The next push sends it again.":
            "Eine gesperrte Änderung nimmt der Dienst vorläufig nicht an. Das nächste Senden schickt sie noch einmal.",
        "Mend a refused change by editing its entity again, or see: %1 --failed":
            "Eine abgelehnte Änderung durch erneutes Bearbeiten der Entität berichtigen, oder siehe: %1 --failed",
        "See both versions of a conflict, and decide: %1 --conflicts":
            "Beide Fassungen eines Konflikts ansehen und entscheiden: %1 --conflicts",
        "Nobody knows yet whether the service made a change in doubt. Settle it: %1 --doubts":
            "Noch ist unbekannt, ob der Dienst eine ungeklärte Änderung gemacht hat. Sie klären: %1 --doubts",
        "%1 %2 refused before that: outpost changes DIR --failed":
            "%1 %2 davor abgelehnt: outpost changes DIR --failed",
        "was": "wurde",
        "were": "wurden",
        "The store answered %1.": "Der Speicher antwortete mit %1.",
        "Connecting %1": "Verbindung wird aufgebaut %1",
        " %1 queries": " %1 Abfragen",
        "%1: the service prepares the first rows %2": "%1: der Dienst bereitet die ersten Zeilen vor %2",
        "%1 of %2 (%3 %)": "%1 von %2 (%3 %)",
        "%1 left": "noch %1",
        "%1 min": "%1 Min.",
        "more than 4 days": "mehr als 4 Tage",
        "Downloading": "Download",
        "Loading streams": "Streams werden geladen",
        "Applying": "Änderungen werden angewendet",
        "Uploading": "Änderungen werden gesendet",
        "Done": "Fertig",
        "streams": "Streams",
    ]
}
