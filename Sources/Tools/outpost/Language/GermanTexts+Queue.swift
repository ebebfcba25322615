extension GermanTexts {
    /// The texts of changes and their queue.
    static let queue: [String: String] = [
        "Call an action or a function of the service.": "Eine Aktion oder Funktion des Dienstes aufrufen.",
        """
        An action waits like any other change: the next push calls it. With --now the service is asked at once, \
        and its answer is printed. A function changes nothing and is always asked at once.
        """:
            """
        Eine Aktion wartet wie jede andere Änderung: das nächste Senden ruft sie auf. Mit --now wird der \
        Dienst sofort gefragt und seine Antwort ausgegeben. Eine Funktion ändert nichts und wird immer \
        sofort aufgerufen.
        """,
        """
        An operation that belongs to an entity or a set is named behind it. Its namespace may be left out. \
        Values are given as to 'outpost create'.
        """:
            """
        Eine Operation, die zu einer Entität oder Menge gehört, steht hinter dieser. Ihr Namensraum darf \
        fehlen. Werte werden wie bei 'outpost create' angegeben.
        """,
        "The action or function.": "Die Aktion oder Funktion.",
        "Parameters and their values.": "Parameter und ihre Werte.",
        "Call an action at once, over the network.": "Eine Aktion sofort über das Netz aufrufen.",
        "Called %1.": "%1 wurde aufgerufen.",
        "value": "Wert",
        "Make several changes in a clone together or not at all.":
            "Mehrere Änderungen in einem Klon zusammen oder gar nicht vornehmen.",
        """
        Each line of the file is a change as on the command line: create, update, delete, link, unlink or call, with \
        its arguments. Empty lines and lines that begin with # are left out. $1 stands for the entity of the first \
        change, $2 for that of the second. Both may begin an address, or be the value of a relation.
        """:
            """
        Jede Zeile der Datei ist eine Änderung wie auf der Befehlszeile: create, update, delete, link, \
        unlink oder call mit den Argumenten. Leere Zeilen und Zeilen, die mit # beginnen, werden \
        ausgelassen. $1 steht für die Entität der ersten Änderung, $2 für die der zweiten: am Anfang einer \
        Adresse und als Wert einer Beziehung.
        """,
        "The next push sends the changes as one, if the service has change sets. Undoing one of them undoes all.":
            """
        Das nächste Senden schickt die Änderungen als eine, wenn der Dienst Änderungsgruppen kennt. Wird \
        eine davon rückgängig gemacht, dann alle.
        """,
        "The file with the changes; - reads the input.": "Die Datei mit den Änderungen; - liest die Eingabe.",
        "%1 %2.": "%1: %2.",
        "%1 together. ": "%1 zusammen. ",
        "change": "Änderung",
        "changes": "Änderungen",
        "%1 to push.": "%1 zu senden.",
        "the input": "die Eingabe",
        "%1 is no text in UTF-8.": "%1 ist kein Text in UTF-8.",
        "Line %1 of %2: a quote does not end.": "Zeile %1 von %2: ein Anführungszeichen wird nicht geschlossen.",
        "Quotes end on the line on which they begin.": "Anführungszeichen enden in der Zeile, in der sie beginnen.",
        "There is no change in %1.": "In %1 steht keine Änderung.",
        "A line is such as: create Orders CustomerID=ALFKI":
            "Eine Zeile ist zum Beispiel: create Orders CustomerID=ALFKI",
        "Line %1 of %2: %3": "Zeile %1 von %2: %3",
        "%1\nNothing was changed.": "%1\nEs wurde nichts geändert.",
        "Nothing was changed.": "Es wurde nichts geändert.",
        "A change has a command and an entity.": "Eine Änderung hat einen Befehl und eine Entität.",
        "An update has properties: NAME=VALUE.": "Eine Änderung mit update hat Eigenschaften: NAME=WERT.",
        "A deletion has one entity.": "Eine Löschung hat genau eine Entität.",
        "A link has a relation and an entity.": "Eine Verknüpfung hat eine Beziehung und eine Entität.",
        "An unlink has a relation and at most one entity.":
            "Das Lösen einer Verknüpfung hat eine Beziehung und höchstens eine Entität.",
        "%1 is a function, which changes nothing.": "%1 ist eine Funktion und ändert nichts.",
        "%1 is no change.": "%1 ist keine Änderung.",
        "The changes are create, update, delete, link, unlink and call.":
            "Die Änderungen sind create, update, delete, link, unlink und call.",
        "List, cancel and settle the changes that the service has not accepted.":
            "Änderungen zeigen, zurücknehmen und klären, die der Dienst nicht angenommen hat.",
        """
        Each change has a number. A refused change keeps its place in the clone until you decide. Edit the entity \
        again to mend it, retry it as it is, or discard it. After a conflict, 'retry' puts your change on top of the \
        other one, 'discard' gives it up. Of a change in doubt nobody knows whether the service made it: look there, \
        then accept it as made, retry it or discard it.
        """:
            """
        Jede Änderung hat eine Nummer. Eine abgelehnte Änderung behält ihren Platz im Klon, bis darüber \
        entschieden ist. Die Entität noch einmal bearbeiten berichtigt sie, 'retry' sendet sie unverändert, \
        'discard' verwirft sie. Nach einem Konflikt setzt 'retry' die eigene Änderung auf die fremde, \
        'discard' gibt sie auf. Bei einer ungeklärten Änderung ist unbekannt, ob der Dienst sie gemacht hat. \
        Dort nachsehen, dann mit 'accept' als gemacht annehmen, mit 'retry' erneut senden oder mit 'discard' \
        verwerfen.
        """,
        "List the changes.": "Die Änderungen auflisten.",
        "Several filters show the changes of each of them.": "Mehrere Filter zeigen die Änderungen von jedem.",
        "Take single changes back before they are sent.": "Einzelne Änderungen zurücknehmen, bevor sie gesendet sind.",
        """
        The entity keeps its other changes. A change of a change set is taken back with the others of the set, \
        which needs --with-others. 'outpost undo' takes back all changes of an entity.
        """:
            """
        Die Entität behält ihre anderen Änderungen. Eine Änderung aus einer Änderungsgruppe wird mit der \
        ganzen Gruppe zurückgenommen; das verlangt --with-others. 'outpost undo' nimmt alle Änderungen einer \
        Entität zurück.
        """,
        "The numbers of the changes.": "Die Nummern der Änderungen.",
        "Also the changes that were made together with them.":
            "Auch die Änderungen, die zusammen mit ihnen gemacht wurden.",
        "pending": "ausstehend",
        "Took %1 back. ": "%1 zurückgenommen. ",
        "Put refused changes back into the queue; the next push sends them.":
            "Abgelehnte Änderungen zurück in die Warteschlange stellen; das nächste Senden schickt sie.",
        """
        A change in doubt is sent again only if its number or --doubts is given: it is made twice if the service \
        has made it.
        """:
            """
        Eine ungeklärte Änderung wird nur erneut gesendet, wenn ihre Nummer oder --doubts angegeben ist. Sie \
        wird doppelt gemacht, wenn der Dienst sie schon gemacht hat.
        """,
        "Treat changes in doubt as made by the service.": "Ungeklärte Änderungen als vom Dienst gemacht behandeln.",
        "Discard changes in the error archive: each entity gets the server version.":
            "Änderungen im Fehlerarchiv aufgeben: jede Entität wird so, wie der Dienst sie hat.",
        "This command has a new name: %1": "Dieser Befehl hat einen neuen Namen: %1",
        "Former name of 'outpost changes --conflicts'.": "Früherer Name von 'outpost changes --conflicts'.",
        """
        Each conflict is shown with the values as they were, as they are here and as the service has them. \
        'mine' puts your change on top of theirs for the next push, 'theirs' gives it up. To merge, edit the \
        entity.
        """:
            """
        Jeder Konflikt wird mit den Werten von vorher, den hiesigen und denen des Dienstes gezeigt. 'mine' \
        setzt beim nächsten Senden die eigene Änderung auf die fremde, 'theirs' gibt sie auf. Zum \
        Zusammenführen die Entität bearbeiten.
        """,
        "List the conflicts.": "Die Konflikte auflisten.",
        "Put your changes on top of theirs; the next push sends them.":
            "Die eigenen Änderungen auf die fremden setzen; das nächste Senden schickt sie.",
        "Discard your changes: each entity gets the server version.":
            "Die eigenen Änderungen aufgeben: jede Entität wird so, wie der Dienst sie hat.",
        "Make an entity in a clone; it is sent with the next push.":
            "Eine Entität in einem Klon anlegen; das nächste Senden schickt sie.",
        """
        A relation is set by the name of the navigation property and the address of the entity: \
        "Customer=Customers('ALFKI')".
        """:
            """
        Eine Beziehung wird mit dem Namen der Navigationseigenschaft und der Adresse der Entität gesetzt: \
        "Customer=Customers('ALFKI')".
        """,
        """
        A key that is left out is given by the service; until then a temporary one stands for it. A member of an \
        enumeration is given by its name, several flags with commas between them; a complex value or a \
        collection as JSON. --body takes the whole entity as JSON, with related entities in it, which are \
        created together.
        """:
            """
        Einen fehlenden Schlüssel vergibt der Dienst; bis dahin steht ein vorläufiger dafür. Ein Wert einer \
        Aufzählung wird mit seinem Namen angegeben, mehrere mit Kommas dazwischen. Ein komplexer Wert oder \
        eine Sammlung wird als JSON angegeben. --body nimmt die ganze Entität als JSON, mit verbundenen \
        Entitäten darin, die zusammen angelegt werden.
        """,
        "The entity set.": "Die Entitätsmenge.",
        "Properties and their values.": "Eigenschaften und ihre Werte.",
        "Delete an entity in a clone; it is deleted at the service with the next push.":
            "Eine Entität in einem Klon löschen; das nächste Senden löscht sie beim Dienst.",
        "The entity.": "Die Entität.",
        "Show the values that were changed in a clone, before and after.":
            "Die im Klon geänderten Werte zeigen, vorher und nachher.",
        """
        Without entities, all changes are shown that the service has not accepted. 'outpost changes' lists them \
        without values.
        """:
            """
        Ohne Entitäten werden alle Änderungen gezeigt, die der Dienst nicht angenommen hat. 'outpost \
        changes' listet sie ohne Werte auf.
        """,
        "The entities, by key.": "Die Entitäten mit ihren Schlüsseln.",
        "There is no change of %1.": "Es gibt keine Änderung an %1.",
        "Property": "Eigenschaft",
        "Before": "Vorher",
        "After": "Nachher",
        "Service": "Dienst",
        "Former name of 'outpost changes --doubts'.": "Früherer Name von 'outpost changes --doubts'.",
        """
        The answer to such a request was lost, and the service does not recognise a repeat. Look there: 'accept' \
        takes it as made, 'resend' sends it once more, 'outpost changes discard' gives it up.
        """:
            """
        Die Antwort auf eine solche Anfrage ging verloren, und der Dienst erkennt eine Wiederholung nicht. \
        Dort nachsehen: 'accept' nimmt sie als gemacht, 'resend' sendet sie noch einmal, 'outpost changes \
        discard' gibt sie auf.
        """,
        "List the changes in doubt.": "Die ungeklärten Änderungen auflisten.",
        "Put changes in doubt back into the queue. They are made twice if the service made them before.":
            """
        Ungeklärte Änderungen zurück in die Warteschlange stellen. Hat der Dienst sie schon gemacht, werden \
        sie doppelt gemacht.
        """,
        "draft": "Entwurf",
        "Work on a copy of an entity, and apply its changes when you activate it.":
            "An einer Kopie einer Entität arbeiten, die erst nach dem Aktivieren gilt.",
        """
        A draft is changed with 'outpost update' like any entity, and is not pushed. Activating it makes the same \
        changes to the entity and removes the draft.
        """:
            """
        Ein Entwurf wird mit 'outpost update' wie jede Entität geändert und nicht gesendet. Beim Aktivieren \
        wird die Entität so geändert wie der Entwurf, und der Entwurf verschwindet.
        """,
        """
        A service that keeps drafts itself has them beside the entities, with IsActiveEntity=false in the key. \
        It makes, checks and activates them over the network; between these steps they are changed offline and \
        pushed.
        """:
            """
        Ein Dienst, der selbst Entwürfe führt, hat sie neben den Entitäten, mit IsActiveEntity=false im \
        Schlüssel. Er legt sie an, prüft und aktiviert sie über das Netz. Zwischen diesen Schritten werden \
        sie offline geändert und gesendet.
        """,
        "The entity or the draft, by key.": "Die Entität oder der Entwurf, mit Schlüssel.",
        "%1 is not a single entity.": "%1 ist keine einzelne Entität.",
        "Give its key, such as Orders(10248).": "Den Schlüssel angeben, etwa Orders(10248).",
        " %1 to push.": " %1 zu senden.",
        "%1 %2.%3": "%1: %2.%3",
        "List the drafts of a clone.": "Die Entwürfe eines Klons auflisten.",
        "There is no draft.": "Es gibt keinen Entwurf.",
        "Kept by": "Geführt von",
        "Draft": "Entwurf",
        "Of": "Zu",
        "the service": "dem Dienst",
        "the clone": "dem Klon",
        "Make a draft of an entity.": "Einen Entwurf einer Entität anlegen.",
        "The first draft of a set makes the set of its drafts, such as OrdersDrafts.":
            "Der erste Entwurf einer Menge legt die Menge ihrer Entwürfe an, etwa OrdersDrafts.",
        "Made": "Angelegt",
        "%1 is no entity of a set.": "%1 ist keine Entität einer Menge.",
        "Have the service check and complete one of its drafts.":
            "Einen Entwurf des Dienstes von ihm prüfen und vervollständigen lassen.",
        "The service keeps no draft of %1.": "Der Dienst führt keinen Entwurf von %1.",
        "A draft of the clone needs no preparation: outpost draft activate DIR DRAFT":
            "Ein Entwurf des Klons braucht keine Vorbereitung: outpost draft activate DIR DRAFT",
        "Prepared": "Vorbereitet",
        "Apply the changes of a draft to its entity, and remove the draft.":
            "Die Entität so ändern wie ihr Entwurf und den Entwurf entfernen.",
        "Activated": "Aktiviert",
        "Give a draft up; its entity stays as it is.": "Einen Entwurf aufgeben; seine Entität bleibt, wie sie ist.",
        "A draft of the service is deleted there with the next push.":
            "Ein Entwurf des Dienstes wird dort mit dem nächsten Senden gelöscht.",
        "The draft, by key.": "Der Entwurf mit seinem Schlüssel.",
        "%1 is no draft.": "%1 ist kein Entwurf.",
        "See the drafts: outpost draft list DIR": "Die Entwürfe zeigen: outpost draft list DIR",
        "Discarded": "Verworfen",
        "Former name of 'outpost changes --failed'.": "Früherer Name von 'outpost changes --failed'.",
        """
        A refused change keeps its place in the clone until you decide. Edit the entity again to mend it, retry it \
        as it is, or discard it. After a conflict, a retry goes on top of the server version. Of a change in doubt \
        nobody knows whether the service made it: look there, then accept it as made, retry it or discard it.
        """:
            """
        Eine abgelehnte Änderung behält ihren Platz im Klon, bis darüber entschieden ist. Die Entität noch \
        einmal bearbeiten berichtigt sie, 'retry' sendet sie unverändert (nach einem Konflikt auf dem \
        fremden Stand), 'discard' verwirft sie. Bei einer ungeklärten Änderung ist unbekannt, ob der Dienst \
        sie gemacht hat. Dort nachsehen, dann annehmen, erneut senden oder verwerfen.
        """,
        "List the refused changes.": "Die abgelehnten Änderungen auflisten.",
        "Put refused changes back into the queue.": "Abgelehnte Änderungen zurück in die Warteschlange stellen.",
        "Discard refused changes: each entity gets the server version.":
            "Abgelehnte Änderungen aufgeben: jede Entität wird so, wie der Dienst sie hat.",
        "Relate an entity to another one in a clone; the relation is sent with the next push.":
            "Eine Entität in einem Klon mit einer anderen verknüpfen; das nächste Senden schickt die Beziehung.",
        """
        A relation to a single entity is set and replaces the one before. A relation to several entities gets \
        one more.
        """:
            """
        Eine Beziehung zu einer einzelnen Entität wird gesetzt und ersetzt die bisherige. Eine Beziehung zu \
        mehreren Entitäten bekommt eine mehr.
        """,
        "An entity and its navigation property.": "Eine Entität und ihre Navigationseigenschaft.",
        "The entity to relate it to.": "Die Entität, mit der sie verknüpft wird.",
        "Undo changes that were not sent.": "Nicht gesendete Änderungen rückgängig machen.",
        """
        A changed entity returns to its state of the last pull. A created entity is removed, and a deleted one \
        is restored. Dependent changes, such as the lines of a created order, are undone, too.
        """:
            """
        Eine geänderte Entität wird wieder wie beim letzten Abholen. Eine angelegte Entität wird entfernt, \
        eine gelöschte wiederhergestellt. Abhängige Änderungen, etwa die Zeilen eines angelegten Auftrags, \
        werden mit rückgängig gemacht.
        """,
        "A change set is undone as a whole: a part of it is refused unless you give --with-others.":
            """
        Eine Änderungsgruppe wird als Ganzes rückgängig gemacht: ein Teil davon wird ohne --with-others \
        abgelehnt.
        """,
        "The entities, such as 'Orders(1)'.": "Die Entitäten, etwa 'Orders(1)'.",
        "Undo all changes that were not pushed.": "Alle nicht gesendeten Änderungen rückgängig machen.",
        "Also undo the other changes of their change sets.":
            "Auch die anderen Änderungen ihrer Änderungsgruppen rückgängig machen.",
        "Name the entities, or give --all.": "Die Entitäten nennen, oder --all angeben.",
        "There was nothing to take back.": "Es gab nichts rückgängig zu machen.",
        "Took back the changes of %1.": "Rückgängig gemacht: die Änderungen von %1.",
        "entity": "Entität",
        "entities": "Entitäten",
        "Take a relation away in a clone; the next push takes it away at the service.":
            "Eine Verknüpfung in einem Klon lösen; das nächste Senden löst sie beim Dienst.",
        "Both entities stay. A relation to several entities needs the one to take away.":
            "Beide Entitäten bleiben. Bei einer Beziehung zu mehreren Entitäten ist die zu lösende anzugeben.",
        "The related entity.": "Die verknüpfte Entität.",
        "Change an entity in a clone; the change is sent with the next push.":
            "Eine Entität in einem Klon ändern; das nächste Senden schickt die Änderung.",
        """
        An edit of an entity with a refused change mends that change: the next push sends both together. Values are \
        given as to 'outpost create', and so is --body.
        """:
            """
        Eine Entität ändern, deren letzte Änderung abgelehnt wurde, berichtigt diese: das nächste Senden \
        schickt beide zusammen. Werte und --body werden wie bei 'outpost create' angegeben.
        """,
        "Properties and their new values.": "Eigenschaften und ihre neuen Werte.",
        "Say what is to be changed: NAME=VALUE, or --body with a file.":
            "Angeben, was zu ändern ist: NAME=WERT, oder --body mit einer Datei.",
        "%1 %2 in %3.": "%1 %2 in %3.",
        "is not": "fehlt",
        "does not exist": "fehlt",
        "Not all is here of %1: its first download is not complete. Go on with: outpost pull DIR":
            "Von %1 ist nicht alles da: der erste Download ist unvollständig. Weiter mit: outpost pull DIR",
        "See what is there with: outpost query DIR %1": "Vorhandenes zeigen mit: outpost query DIR %1",
        "A file with the entity as JSON; - reads the input.":
            "Eine Datei mit der Entität als JSON; - liest die Eingabe.",
        "The input cannot be read: %1.": "Die Eingabe ist nicht lesbar: %1.",
        "Changes that the next push sends.": "Änderungen, die das nächste Senden schickt.",
        "Changes with a request on its way.": "Änderungen, deren Anfrage unterwegs ist.",
        "Changes that are held: of a copied clone, behind a refused change, or not submitted by their app.":
            """
        Zurückgehaltene Änderungen: eines kopierten Klons, hinter einer abgelehnten Änderung, oder von ihrer \
        App nicht übergeben.
        """,
        "All changes in the error archive: refused ones, conflicts and doubts.":
            "Alle Änderungen im Fehlerarchiv: abgelehnte, Konflikte und ungeklärte.",
        "Refused changes of entities that somebody else had changed.":
            "Abgelehnte Änderungen von Entitäten, die jemand anderes geändert hatte.",
        "Sent changes with an unknown outcome.": "Gesendete Änderungen, deren Ausgang unbekannt ist.",
        "There is no change.": "Es gibt keine Änderung.",
        "No change is pending.": "Keine Änderung steht aus.",
        "No change is on its way.": "Keine Änderung ist unterwegs.",
        "No change is held.": "Keine Änderung wird zurückgehalten.",
        "No change was refused.": "Keine Änderung wurde abgelehnt.",
        "There is no conflict.": "Es gibt keinen Konflikt.",
        "No change is in doubt.": "Keine Änderung ist ungeklärt.",
        "There is no such change.": "Es gibt keine solche Änderung.",
        "The refused changes of entities that somebody else had changed.":
            "Die abgelehnten Änderungen von Entitäten, die jemand anderes geändert hatte.",
        "The changes with an unknown outcome.": "Die Änderungen, deren Ausgang unbekannt ist.",
        "The category of the change, for 'push --only'.": "Die Kategorie der Änderung, für 'push --only'.",
        "Changes with a higher number are sent first, unless they depend on others; 0 unless given.":
            "Änderungen mit höherer Zahl werden zuerst gesendet, wenn sie nicht von anderen abhängen; ohne Angabe 0.",
        "A mark of your own, which is kept with the change and not sent.":
            "Ein eigenes Kennzeichen, das bei der Änderung bleibt und nicht gesendet wird.",
        "to push again": "zum erneuten Senden",
        "taken as made": "als gemacht angenommen",
        "given up": "aufgegeben",
        "The numbers of the changes; the default is all of this kind.":
            "Die Nummern der Änderungen; ohne Angabe alle dieser Art.",
        "Change #%1 is not one of these.": "Die Änderung #%1 ist keine davon.",
        "See them all: outpost changes DIR --failed": "Alle zeigen: outpost changes DIR --failed",
        """
        The key that the service gave to the entity of change ID, as in a URL: 4=10248 or 4='ALFKI'. May be \
        repeated.
        """:
            """
        Der Schlüssel, den der Dienst der Entität der Änderung ID gab, wie in einer URL: 4=10248 oder \
        4='ALFKI'. Mehrfach möglich.
        """,
        "There is no change #%1 to settle.": "Eine Änderung #%1 ist nicht zu klären.",
        "'%1' is no key of %2.": "'%1' ist kein Schlüssel von %2.",
        "on its way": "unterwegs",
        "waits for #%1": "wartet auf #%1",
        "held": "zurückgehalten",
        "not submitted": "nicht übergeben",
        "Change": "Änderung",
        "Entity": "Entität",
        "Category": "Kategorie",
        "Priority": "Priorität",
        "\n%1 To send them all the same: outpost push %2 --from-copy":
            "\n%1 Um sie trotzdem zu senden: outpost push %2 --from-copy",
        "Mend a refused change by editing its entity, or: outpost changes retry|discard %1 NUMBER":
            """
        Eine abgelehnte Änderung durch Bearbeiten der Entität berichtigen, oder: outpost changes \
        retry|discard %1 NUMBER
        """,
        "Put a change on top of a conflict, or give it up: outpost changes retry|discard %1 --conflicts":
            "Eine Änderung auf einen Konflikt setzen oder aufgeben: outpost changes retry|discard %1 --conflicts",
        "Look at the service for a change in doubt, then: outpost changes accept|retry|discard %1 NUMBER":
            """
        Bei einer ungeklärten Änderung beim Dienst nachsehen, dann: outpost changes accept|retry|discard %1 \
        NUMBER
        """,
        "%1 is no action or function that can be called so.":
            "%1 ist keine Aktion oder Funktion, die so aufgerufen werden kann.",
        "See the operations: outpost metadata show DIR": "Die Operationen zeigen: outpost metadata show DIR",
        "%1 has no parameter %2.": "%1 hat keinen Parameter %2.",
        "It takes none.": "Es gibt keine Parameter.",
        "Its parameters are %1.": "Die Parameter sind %1.",
        "Changed": "Geändert",
        "%1 to %2": "%1 mit %2",
        "Linked": "Verknüpft",
        "%1 leads to several entities.": "%1 führt zu mehreren Entitäten.",
        "Name the one to take away: outpost unlink DIR %1 'SET(KEY)'":
            "Die zu lösende nennen: outpost unlink DIR %1 'SET(KEY)'",
        "Unlinked": "Gelöst",
        "%1 from %2": "%1 von %2",
        "Called": "Aufgerufen",
        "The body is no %1: %2.": "Der Inhalt ist kein %1: %2.",
        "It is an entity as 'outpost query DIR ENTITY --json' prints it, with related entities in it.":
            "Er ist eine Entität, wie 'outpost query DIR ENTITY --json' sie ausgibt, mit verknüpften Entitäten darin.",
        "Name an entity and one of its navigation properties, such as Orders(10248)/Customer.":
            "Eine Entität und eine ihrer Navigationseigenschaften nennen, etwa Orders(10248)/Customer.",
        "%1 has no navigation property.": "%1 hat keine Navigationseigenschaft.",
        "Name one of its navigation properties: %1": "Eine der Navigationseigenschaften nennen: %1",
        "%1 is no relation.": "%1 ist keine Beziehung.",
        "%1 %2. ": "%1: %2. ",
        "%1 stands for no earlier change.": "%1 steht für keine frühere Änderung.",
        "$1 is the entity of the first change, $2 that of the second.":
            "$1 ist die Entität der ersten Änderung, $2 die der zweiten.",
        "%1 is not an entity set.": "%1 ist keine Entitätsmenge.",
        "'%1' is not NAME=VALUE.": "'%1' ist nicht NAME=WERT.",
        "%1 leads to an entity, which '%2' is not.": "%1 führt zu einer Entität, was '%2' nicht ist.",
        "Give its address below the service root, such as Customers('ALFKI').":
            "Die Adresse unter der Wurzel des Dienstes angeben, etwa Customers('ALFKI').",
        "%1 is computed by the service and cannot be set.": "%1 berechnet der Dienst und ist nicht zu setzen.",
        "Leave it out.": "Es weglassen.",
        "%1 is part of the key, which cannot be changed.": "%1 gehört zum Schlüssel, der nicht zu ändern ist.",
        "Create an entity with the new key and delete this one.":
            "Eine Entität mit dem neuen Schlüssel anlegen und diese löschen.",
        "%1 has no property %2.": "%1 hat keine Eigenschaft %2.",
        "%1 is %2, which '%3' is not.": "%1 ist %2, was '%3' nicht ist.",
        "Its members are %1%2": "Die Werte sind %1%2",
        "It is given as JSON.": "Es wird als JSON angegeben.",
        "a whole number from 0 to 255": "eine ganze Zahl von 0 bis 255",
        "a whole number from -128 to 127": "eine ganze Zahl von -128 bis 127",
        "a whole number from -32768 to 32767": "eine ganze Zahl von -32768 bis 32767",
        "a whole number of at most 10 digits, such as 42": "eine ganze Zahl mit höchstens 10 Stellen, etwa 42",
        "a whole number, such as 42": "eine ganze Zahl, etwa 42",
        "a number with a point, such as 12.50": "eine Zahl mit Punkt, etwa 12.50",
        "a number, such as 1.5 or 2.5e3": "eine Zahl, etwa 1.5 oder 2.5e3",
        "base64url, such as AQID": "base64url, etwa AQID",
        "Write it as %1.": "Schreibweise: %1.",
        "%1: was %2, mine %3, theirs %4": "%1: vorher %2, eigener Wert %3, fremder Wert %4",
        "not loaded": "nicht geladen",
    ]
}
