extension GermanTexts {
    /// The texts of queries and their results.
    static let queries: [String: String] = [
        " (at character %1)": " (beim Zeichen %1)",
        "Keep one more query offline; the next pull brings its rows.":
            "Eine weitere Abfrage offline halten; das nächste Abholen bringt ihre Zeilen.",
        "The query, with a name for it.": "Die Abfrage mit einem Namen dafür.",
        "The group in which the query is pulled.": "Die Gruppe, in der die Abfrage abgeholt wird.",
        "Also load the streams of its entities, such as pictures.":
            "Auch die Streams ihrer Entitäten laden, etwa Bilder.",
        "Its rows are the same for every user: keep them when another user takes over the clone.":
            "Ihre Zeilen sind für alle Benutzer gleich: sie bleiben, wenn ein anderer Benutzer den Klon übernimmt.",
        "Report as JSON.": "Ausgabe als JSON.",
        "Added %1.": "%1 wurde hinzugefügt.",
        "Bring its rows with: outpost pull %1 --only %2": "Die Zeilen abholen mit: outpost pull %1 --only %2",
        "Show how queries are downloaded, or how a query is answered.":
            "Zeigen, wie Abfragen heruntergeladen werden oder wie eine Abfrage beantwortet wird.",
        """
        Without a query, each defining query is shown with its way of download and its $expand. Missing parts of \
        the service follow, with the queries that would bring them.
        """:
            """
        Ohne Abfrage wird jede definierende Abfrage mit der Art ihres Downloads und ihrem $expand gezeigt. \
        Es folgen fehlende Teile des Dienstes mit den Abfragen, die sie bringen würden.
        """,
        "With a query, the command shows its parsed form, the SQL and the plan of SQLite.":
            "Mit einer Abfrage zeigt der Befehl ihre zerlegte Form, das SQL und den Plan von SQLite.",
        "A query, relative to the service root.": "Eine Abfrage, relativ zur Wurzel des Dienstes.",
        "left out: the metadata do not declare its type": "ausgelassen: die Metadaten deklarieren ihren Typ nicht",
        "not in the clone": "nicht im Klon",
        "    asked without %1, which the service refuses": "    abgefragt ohne %1, was der Dienst ablehnt",
        "Not in the clone": "Nicht im Klon",
        "Write the rows of a clone into JSON or CSV files.":
            "Die Zeilen eines Klons in Dateien in JSON oder CSV schreiben.",
        """
        Each kept entity set becomes a file in the given directory, or the rows of one query go to the terminal. \
        The files are not encrypted. The exit code is 1 if the first download of a set is incomplete.
        """:
            """
        Jede vorhandene Entitätsmenge wird zu einer Datei im angegebenen Verzeichnis, oder die Zeilen einer \
        Abfrage gehen ans Terminal. Die Dateien sind nicht verschlüsselt. Der Rückgabewert ist 1, wenn der \
        erste Download einer Menge unvollständig ist.
        """,
        """
        CSV has the selected columns. Empty text is "" and null is nothing; structured values are JSON. \
        Spreadsheet programs run text that begins with = + - or @ as a formula: import it as text, or export \
        with --guard-formulas.
        """:
            """
        CSV hat die gewählten Spalten. Leerer Text ist "" und null ist nichts; strukturierte Werte sind \
        JSON. Tabellenprogramme führen Text als Formel aus, der mit = + - oder @ beginnt: als Text \
        importieren oder mit --guard-formulas exportieren.
        """,
        "A new directory for the files.": "Ein neues Verzeichnis für die Dateien.",
        "A query. Its rows go to the terminal.": "Eine Abfrage, deren Zeilen ans Terminal gehen.",
        "The format: json or csv.": "Das Format: json oder csv.",
        "Put an apostrophe before text that a spreadsheet program would run as a formula.":
            "Einen Apostroph vor Text setzen, den ein Tabellenprogramm als Formel ausführen würde.",
        "--guard-formulas goes with csv.": "--guard-formulas gehört zu csv.",
        "Give --to or --query.": "--to oder --query angeben.",
        "Writing": "Dateien werden geschrieben",
        "Not all is here of %1: the first download was cut short.":
            "Von %1 ist nicht alles da: der erste Download wurde abgebrochen.",
        "Go on with: outpost pull DIR": "Weiter mit: outpost pull DIR",
        "text": "Text",
        "texts": "Texte",
        """
        %1 %2 would be taken for formulas by a spreadsheet program: import them as text, or export with \
        --guard-formulas.
        """:
            """
        %1 Ein Tabellenprogramm würde als Formel ansehen: %2. Als Text importieren oder mit --guard-formulas \
        exportieren.
        """,
        "warning:": "Warnung:",
        "The output": "Die Ausgabe",
        "%1 is there already.": "%1 gibt es schon.",
        "Name another directory.": "Ein anderes Verzeichnis nennen.",
        "The directory %1 cannot be made: %2.": "Das Verzeichnis %1 kann nicht angelegt werden: %2.",
        "Name another directory after --to.": "Nach --to ein anderes Verzeichnis nennen.",
        "Writing %1: %2": "%1 wird geschrieben: %2",
        "Left out, since nothing of them is kept here: %1": "Ausgelassen, weil davon nichts im Klon ist: %1",
        "Make queries of a clone faster with indexes.": "Abfragen eines Klons mit Indizes beschleunigen.",
        """
        Keys and relations have indexes already. Without a set, the command lists your indexes. 'outpost query \
        DIR QUERY --explain' shows whether a query uses an index.
        """:
            """
        Schlüssel und Beziehungen haben schon Indizes. Ohne Menge listet der Befehl die eigenen Indizes auf. \
        'outpost query DIR QUERY --explain' zeigt, ob eine Abfrage einen Index benutzt.
        """,
        "The properties, the most significant one first, with ' desc' for a descending order.":
            "Die Eigenschaften, die wichtigste zuerst; ' desc' steht für absteigende Ordnung.",
        "Create the full-text index for $search.": "Den Volltextindex für $search anlegen.",
        "Remove the index.": "Den Index entfernen.",
        "Give the properties of the index, or --search.": "Die Eigenschaften des Index oder --search angeben.",
        "Name the entity set.": "Die Entitätsmenge nennen.",
        "Dropping the index": "Der Index wird entfernt",
        "Making the index": "Der Index wird angelegt",
        "Reading": "Indizes werden gelesen",
        "There is no such index on %1.": "Einen solchen Index gibt es auf %1 nicht.",
        "See: outpost index %1": "Siehe: outpost index %1",
        "No indexes but those of keys and relations.": "Keine Indizes außer denen von Schlüsseln und Beziehungen.",
        "%1 the index of %2: %3": "%1: der Index von %2: %3",
        "Dropped": "Entfernt",
        "Query a clone, without a network.": "Einen Klon abfragen, ohne Netz.",
        """
        The query is an OData URL relative to the service root. Put it in single quotes, so that the shell \
        leaves $ and & alone. An empty query lists the entity sets.
        """:
            """
        Die Abfrage ist eine OData-URL relativ zur Wurzel des Dienstes. Sie gehört in einfache \
        Anführungszeichen, damit die Shell $ und & nicht anrührt. Eine leere Abfrage listet die \
        Entitätsmengen auf.
        """,
        "The query.": "Die Abfrage.",
        "Print the result in the OData JSON format.": "Das Ergebnis im JSON-Format von OData ausgeben.",
        "Print each property on a line of its own.": "Jede Eigenschaft in einer eigenen Zeile ausgeben.",
        "Show how the query is answered: its parsed form, the SQL and the plan of SQLite.":
            "Zeigen, wie die Abfrage beantwortet wird: ihre zerlegte Form, das SQL und den Plan von SQLite.",
        "--lines and --json exclude each other.": "--lines und --json schließen einander aus.",
        "%1 The clone ignores %2. The options of OData begin with $, such as $top and $filter.":
            "%1 Der Klon beachtet %2 nicht. Die Optionen von OData beginnen mit $, etwa $top und $filter.",
        "%1 does not exist in %2.": "%1 gibt es in %2 nicht.",
        "If it is new at the service: outpost pull %1": "Wenn es beim Dienst neu ist: outpost pull %1",
        "%1 is not kept in %2.": "%1 ist nicht in %2 enthalten.",
        "The clone keeps a part of %1: %2\nKeep more of it: outpost add-query %3 NAME=QUERY":
            "Der Klon enthält einen Teil von %1: %2\nMehr davon: outpost add-query %3 NAME=QUERY",
        "%1 Not all is here of %2: its first download is not complete. Go on with: outpost pull %3":
            "%1 Von %2 ist nicht alles da: der erste Download ist unvollständig. Weiter mit: outpost pull %3",
        "%1 in all": "insgesamt %1",
        "%1. For a file: %2 > FILE": "%1. In eine Datei: %2 > DATEI",
        "Run a dynamic query on a clone: joins, groups and queries within queries.":
            "Eine dynamische Abfrage auf einem Klon ausführen: Joins, Gruppen und Abfragen in Abfragen.",
        """
        The query is a JSON file. It can do more than an OData URL: join an entity set with itself or with the \
        result of another query, and combine results. It reads the clone alone and is never sent.
        """:
            """
        Die Abfrage ist eine JSON-Datei. Sie kann mehr als eine OData-URL: eine Entitätsmenge mit sich selbst \
        oder mit dem Ergebnis einer anderen Abfrage verbinden, und Ergebnisse zusammenfassen. Sie liest nur \
        den Klon und wird nie gesendet.
        """,
        """
        Each source has an alias, and an attribute is written with it: c.City. The tests are isNull, notNull, \
        equal, notEqual, like, notLike, lessThan, lessEqual, greaterThan, greaterEqual, contains, startsWith, \
        endsWith, notContains, notStartsWith, notEndsWith, in, notIn, exists and notExists.
        """:
            """
        Jede Quelle hat einen Alias, der vor einem Attribut steht: c.City. Die Tests sind isNull, notNull, \
        equal, notEqual, like, notLike, lessThan, lessEqual, greaterThan, greaterEqual, contains, startsWith, \
        endsWith, notContains, notStartsWith, notEndsWith, in, notIn, exists und notExists.
        """,
        """
        A file that finds the cities with the greatest freight:
          {"from": {"set": "Customers", "as": "c"},
           "join": [{"set": "Orders", "as": "o",
                     "on": {"attribute": "o.CustomerID", "test": "equal",
                            "value": {"attribute": "c.CustomerID"}}}],
           "where": {"attribute": "c.City", "test": "notNull"},
           "groupBy": ["c.City"],
           "select": ["c.City", {"value": {"aggregate": "sum", "of": "o.Freight"}, "as": "freight"}],
           "orderBy": [{"column": "freight", "descending": true}],
           "take": 10}
        """:
            """
        Eine Datei, die die Städte mit der größten Fracht findet:
          {"from": {"set": "Customers", "as": "c"},
           "join": [{"set": "Orders", "as": "o",
                     "on": {"attribute": "o.CustomerID", "test": "equal",
                            "value": {"attribute": "c.CustomerID"}}}],
           "where": {"attribute": "c.City", "test": "notNull"},
           "groupBy": ["c.City"],
           "select": ["c.City", {"value": {"aggregate": "sum", "of": "o.Freight"}, "as": "freight"}],
           "orderBy": [{"column": "freight", "descending": true}],
           "take": 10}
        """,
        "The file with the query as JSON.": "Die Datei mit der Abfrage als JSON.",
        "Print the rows as an array of JSON objects.": "Die Zeilen als Array von JSON-Objekten ausgeben.",
        "Print the rows as lines of CSV.": "Die Zeilen als CSV ausgeben.",
        "--csv and --json exclude each other.": "--csv und --json schließen einander aus.",
        "--csv and --explain exclude each other.": "--csv und --explain schließen einander aus.",
        "--guard-formulas goes with --csv.": "--guard-formulas gehört zu --csv.",
        "Name a file with a query as JSON.": "Eine Datei mit einer Abfrage als JSON nennen.",
        "%1 is no query. %2": "%1 ist keine Abfrage. %2",
        "Correct the query in %1.": "Die Abfrage in %1 berichtigen.",
        "See an example: outpost select --help": "Ein Beispiel zeigt: outpost select --help",
        "%1 %2 begin like formulas of a spreadsheet program. Guard them with --guard-formulas.":
            "%1 Wie Formeln eines Tabellenprogramms beginnen: %2. Mit --guard-formulas schützen.",
        "%1: select fewer columns, or see all with --json.":
            "%1: weniger Spalten wählen, oder alle mit --json zeigen.",
        "Stop keeping a query offline, and remove its rows.":
            "Eine Abfrage nicht mehr offline halten und ihre Zeilen entfernen.",
        "Rows of other queries stay. Rows with pending changes stay until the changes are accepted.":
            """
        Zeilen anderer Abfragen bleiben. Zeilen mit ausstehenden Änderungen bleiben, bis die Änderungen \
        angenommen sind.
        """,
        "The name of the query, as 'outpost status' lists it.": "Der Name der Abfrage, wie 'outpost status' ihn zeigt.",
        "Removed %1 and %2.": "%1 und %2 entfernt.",
        "Show the queries of a clone and its pending changes.":
            "Die Abfragen eines Klons und seine ausstehenden Änderungen zeigen.",
        "Clone of %1": "Klon von %1",
        "Last download": "Letzter Download",
        "%1 (shared)": "%1 (gemeinsam)",
        "incomplete; go on with pull": "unvollständig; weiter mit pull",
        "Nothing to push.": "Nichts zu senden.",
        "\nNot submitted yet:": "\nNoch nicht übergeben:",
        "\nTo push:": "\nZu senden:",
        "\nHeld:": "\nZurückgehalten:",
        "%1 Look at the service. To send them anyway: %2": "%1 Beim Dienst nachsehen. Um sie trotzdem zu senden: %2",
        "\nIn the error archive ": "\nIm Fehlerarchiv ",
        "(correct by editing, or see %1):": "(durch Bearbeiten berichtigen, oder siehe %1):",
        " in %1": " in %1",
        " on its way": " unterwegs",
        "in doubt": "ungeklärt",
        "conflict": "Konflikt",
        "locked": "gesperrt",
        "stream": "Stream",
        "Read and write pictures, documents and other streams of entities.":
            "Bilder, Dokumente und andere Streams von Entitäten lesen und schreiben.",
        """
        A media entity is named alone, such as Photos(1); a stream property behind its entity, such as \
        Photos(1)/Thumbnail. Streams are in a clone if a query was made with --streams, or once they are loaded.
        """:
            """
        Eine Medienentität steht allein, etwa Photos(1); eine Stream-Eigenschaft steht hinter ihrer Entität, \
        etwa Photos(1)/Thumbnail. Streams sind in einem Klon, wenn eine Abfrage mit --streams angelegt wurde \
        oder sobald sie geladen sind.
        """,
        "Write a stream of a clone to a file, without a network.":
            "Einen Stream eines Klons in eine Datei schreiben, ohne Netz.",
        "The media entity or stream property.": "Die Medienentität oder Stream-Eigenschaft.",
        "Report as JSON; goes with --output.": "Ausgabe als JSON; gehört zu --output.",
        "A stream is not for a terminal.": "Ein Stream gehört nicht ans Terminal.",
        "Name a file: --output FILE": "Eine Datei nennen: --output DATEI",
        "%1 has no stream.": "%1 hat keinen Stream.",
        "The stream of %1 is not in %2.": "Der Stream von %1 ist nicht in %2.",
        "Load it: outpost stream load DIR %1": "Ihn laden: outpost stream load DIR %1",
        "Wrote %1 (%2) to %3.": "%1 (%2) nach %3 geschrieben.",
        "Replace a stream by a file, or make a media entity of it; the next push sends the bytes.":
            """
        Einen Stream durch eine Datei ersetzen oder daraus eine Medienentität anlegen; das nächste Senden \
        schickt die Bytes.
        """,
        "The name of a set creates a new media entity. Set its properties with 'outpost update' afterwards.":
            """
        Der Name einer Menge legt eine neue Medienentität an. Ihre Eigenschaften werden danach mit 'outpost \
        update' gesetzt.
        """,
        "The media entity, the stream property, or the set of a new media entity.":
            "Die Medienentität, die Stream-Eigenschaft oder die Menge einer neuen Medienentität.",
        "The file with the bytes; - reads the input.": "Die Datei mit den Bytes; - liest die Eingabe.",
        "The media type of the bytes; the default follows from the suffix of the file.":
            "Der Medientyp der Bytes; ohne Angabe nach der Endung der Datei.",
        "Created": "Angelegt",
        "Replaced": "Ersetzt",
        "Delete the stream of a property; the next push deletes it at the service.":
            "Den Stream einer Eigenschaft löschen; das nächste Senden löscht ihn beim Dienst.",
        "The stream of a media entity goes with the entity: outpost delete.":
            "Der Stream einer Medienentität verschwindet mit der Entität: outpost delete.",
        "The stream property.": "Die Stream-Eigenschaft.",
        "The stream of a media entity goes with the entity.":
            "Der Stream einer Medienentität verschwindet mit der Entität.",
        "Delete both: outpost delete DIR %1": "Beide löschen: outpost delete DIR %1",
        "Deleted": "Gelöscht",
        "Load streams from the service, so that they can be read offline.":
            "Streams vom Dienst laden, damit sie offline lesbar sind.",
        "An interrupted stream continues at its last byte.":
            "Ein abgebrochener Stream wird an seiner Stelle fortgesetzt.",
        "The media entities and stream properties.": "Die Medienentitäten und Stream-Eigenschaften.",
        "Is here already:": "Schon vorhanden:",
        "Loaded": "Geladen:",
        "Show the changes of a query result until interrupted.":
            "Die Änderungen eines Abfrageergebnisses zeigen, bis der Befehl unterbrochen wird.",
        """
        Shows edits and pulls of every process as they happen: '+' for an entity that enters the result, '~' for \
        a changed one, '-' for one that leaves.
        """:
            """
        Zeigt Bearbeitungen und Abholungen jedes Prozesses sofort: '+' für eine Entität, die in das Ergebnis \
        kommt, '~' für eine geänderte, '-' für eine, die es verlässt.
        """,
        "Print each change as a line of JSON.": "Jede Änderung als Zeile in JSON ausgeben.",
        "what is expanded": "erweiterte Entitäten",
        "related entities": "verknüpfte Entitäten",
        "%1 came into the clone while it was written, and has no column.":
            "%1 kam während des Schreibens in den Klon und hat keine Spalte.",
        "Run the same command again.": "Denselben Befehl noch einmal ausführen.",
        "Lines of CSV have no columns for %1.": "Zeilen in CSV haben keine Spalten für %1.",
        "Leave it out of the query, or write JSON: --format json":
            "In der Abfrage weglassen, oder JSON schreiben: --format json",
        "%1 finds no rows.": "%1 findet keine Zeilen.",
        "%1 cannot be made: %2.": "%1 kann nicht angelegt werden: %2.",
        "%1 cannot be written: %2.": "%1 kann nicht geschrieben werden: %2.",
        """
        A value for a query parameter, as in a URL: employee=7 for @employee, name='Ann' with its quotes. An \
        empty value removes the parameter. The clone keeps it. May be repeated.
        """:
            """
        Ein Wert für einen Abfrageparameter, wie in einer URL: employee=7 für @employee, name='Ann' mit den \
        Anführungszeichen. Ein leerer Wert entfernt den Parameter. Der Klon behält ihn. Mehrfach möglich.
        """,
        "%1 takes a name and a value, such as %2.": "%1 nimmt einen Namen und einen Wert, etwa %2.",
        "%1, with the query that brings it:": "%1, mit der Abfrage, die es bringt:",
        "    %1: no query can bring it": "    %1: keine Abfrage kann es bringen",
        "%1, without a key": "%1, ohne Schlüssel",
        "an empty text": "ein leerer Text",
        "%1 could not be read, and the rest is here:": "%1 nicht lesbar, der Rest ist hier:",
        "  and %1 more": "  und %1 weitere",
        "If the service has changed, 'outpost pull %1 --metadata' reads them.":
            "Hat sich der Dienst geändert, liest 'outpost pull %1 --metadata' sie.",
        "%1 is no stream.": "%1 ist kein Stream.",
        "Name a media entity, such as 'Photos(1)', or a stream property, such as 'Photos(1)/Thumbnail'.":
            "Eine Medienentität nennen, etwa 'Photos(1)', oder eine Stream-Eigenschaft, etwa 'Photos(1)/Thumbnail'.",
        "%1 has no stream of its own.": "%1 hat keinen eigenen Stream.",
        "Its stream properties are %1.": "Die Stream-Eigenschaften sind %1.",
        "The input": "Die Eingabe",
        "Another command may be writing it. If not, remove that file.":
            "Vielleicht schreibt ein anderer Befehl sie. Wenn nicht, diese Datei entfernen.",
        "%1 is not an address of the service %2.": "%1 ist keine Adresse des Dienstes %2.",
        "Give the query relative to the service, such as Orders?$top=3.":
            "Die Abfrage relativ zum Dienst angeben, etwa Orders?$top=3.",
        "no rows": "keine Zeilen",
        "more column": "weitere Spalte",
        "more columns": "weitere Spalten",
        "%1: choose columns with $select, or see all with --lines.":
            "%1: Spalten mit $select wählen, oder alle mit --lines zeigen.",
        "column": "Spalte",
        "columns": "Spalten",
        "%1 of later rows not shown: see all with --lines.":
            "%1 späterer Zeilen nicht gezeigt: alle mit --lines zeigen.",
        "Name": "Name",
        "Kind": "Art",
        "incomplete": "unvollständig",
        "not kept": "nicht vorhanden",
        "singleton": "Singleton",
        "<%1 bytes>": "<%1 Bytes>",
    ]
}
