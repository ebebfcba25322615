extension GermanTexts {
    /// The sentences of the store and its query engine, which are English in the libraries.
    static let library: [String: String] = [
        "\"%1\" is no reference to an entity: %2.": "\"%1\" ist kein Verweis auf eine Entität: %2.",
        "$count of the result of %1": "$count des Ergebnisses von %1",
        "$crossjoin here": "$crossjoin hier",
        "$deltatoken for this query": "$deltatoken für diese Abfrage",
        "$entity needs the option $id.": "$entity braucht die Option $id.",
        "$expand after aggregation": "$expand nach einer Aggregation",
        "$expand here": "$expand hier",
        "$expand of %1/$value": "$expand von %1/$value",
        "$expand of a stream": "$expand eines Streams",
        "$expand of a stream within a complex value": "$expand eines Streams in einem komplexen Wert",
        "$expand within %1": "$expand in %1",
        "$filter here": "$filter hier",
        "$it in $expand of %1, which has no key": "$it in $expand von %1, das keinen Schlüssel hat",
        "$root/%1 here": "$root/%1 hier",
        "$skiptoken belongs to another query; follow the next link without changing it.":
            "$skiptoken gehört zu einer anderen Abfrage; dem nächsten Verweis unverändert folgen.",
        "$skiptoken is not one that this service gave out; follow the next link as it came.":
            "$skiptoken stammt nicht von diesem Dienst; dem nächsten Verweis folgen, wie er kam.",
        "$value of %1": "$value von %1",
        "%1 cannot be changed, as the service's metadata say. Leave it out.":
            "%1 kann nicht geändert werden, wie die Metadaten des Dienstes sagen. Es weglassen.",
        "%1 cannot be changed.": "%1 kann nicht geändert werden.",
        "%1 cannot be deleted: %2 of %3 refer to it.": "%1 kann nicht gelöscht werden: %2 von %3 verweisen darauf.",
        "%1 cannot be given when an entity is created, as the service's metadata say. Leave it out.":
            "%1 kann beim Anlegen nicht angegeben werden, wie die Metadaten des Dienstes sagen. Es weglassen.",
        "%1 changes are": "%1 Änderungen werden",
        "%1 does not exist in %2.": "%1 gibt es in %2 nicht.",
        "%1 does not exist.": "%1 gibt es nicht.",
        "%1 has U+0000 in it, which cannot be stored.": "%1 enthält U+0000, das nicht gespeichert werden kann.",
        "%1 has entities that refer to this one by %2.": "%1 hat Entitäten, die mit %2 auf diese verweisen.",
        "%1 has more than %2 rows; ask for fewer with $filter or $top, or give the view a key to read it in pages.":
            """
        %1 hat mehr als %2 Zeilen; mit $filter oder $top weniger verlangen, oder der Sicht einen Schlüssel \
        geben, um sie seitenweise zu lesen.
        """,
        "%1 has no navigation property %2.": "%1 hat keine Navigationseigenschaft %2.",
        "%1 has no parameter %2.": "%1 hat keinen Parameter %2.",
        "%1 has no property %2 with a single value that could be indexed.":
            "%1 hat keine Eigenschaft %2 mit einem einzelnen Wert für einen Index.",
        "%1 has no property %2.": "%1 hat keine Eigenschaft %2.",
        "%1 has no text that could be indexed.": "%1 hat keinen Text für einen Index.",
        "%1 has pending changes of another version than the draft. Upload them first.":
            "%1 hat ausstehende Änderungen einer anderen Fassung als der Entwurf. Sie zuerst senden.",
        "%1 has pending changes. Upload them first.": "%1 hat ausstehende Änderungen. Sie zuerst senden.",
        "%1 held, since %2: another copy of the store may have sent the same.":
            "%1 zurückgehalten, weil %2: eine andere Kopie des Speichers kann dasselbe gesendet haben.",
        "%1 holds %2, not %3.": "%1 enthält %2, nicht %3.",
        "%1 is %2, not %3.": "%1 ist %2, nicht %3.",
        """
        %1 is called at the service at once and cannot be part of a change set. Call it outside of the \
        transaction, or queue it if it is an action.
        """:
            """
        %1 wird sofort beim Dienst aufgerufen und kann nicht Teil einer Änderungsgruppe sein. Es außerhalb \
        der Transaktion aufrufen, oder es einreihen, wenn es eine Aktion ist.
        """,
        "%1 is changed only by requests that state its ETag. Read it, and send the ETag in If-Match.":
            "%1 wird nur mit Angabe des ETags geändert. Es lesen und den ETag in If-Match senden.",
        "%1 is no entity and no set.": "%1 ist keine Entität und keine Menge.",
        "%1 is no entity or collection of entities.": "%1 ist keine Entität und keine Sammlung von Entitäten.",
        "%1 is not a %2.": "%1 ist kein %2.",
        "%1 is not allowed here.": "%1 ist hier nicht erlaubt.",
        "%1 is not in the store, or not for these rows. %2":
            "%1 ist nicht im Speicher, oder nicht für diese Zeilen. %2",
        "%1 is not supported.": "%1 wird nicht unterstützt.",
        "%1 is of type %2, not %3.": "%1 hat den Typ %2, nicht %3.",
        "%1 leads to %2, which does not exist.": "%1 führt zu %2, das es nicht gibt.",
        "%1 leads to a single entity.": "%1 führt zu einer einzelnen Entität.",
        "%1 must be given: no temporary value of type %2 can stand for it.":
            "%1 ist anzugeben: kein vorläufiger Wert des Typs %2 kann dafür stehen.",
        "%1 must be text.": "%1 muss Text sein.",
        "%1 must have a value.": "%1 muss einen Wert haben.",
        "%1 names no entity of %2 by its %3.": "%1 nennt mit %3 keine Entität von %2.",
        "%1 needs a key.": "%1 braucht einen Schlüssel.",
        "%1 needs the parameter %2.": "%1 braucht den Parameter %2.",
        "%1 notes about rows that are not there were removed.": "%1 Vermerke über fehlende Zeilen wurden entfernt.",
        "%1 pages without rows came one after the other, and a link to a next one.":
            "%1 Seiten ohne Zeilen kamen nacheinander, mit einem Verweis auf eine weitere.",
        "%1 refers to an entity of %2 that does not exist.": "%1 verweist auf eine Entität von %2, die es nicht gibt.",
        "%1 refers to another entity than %2, which contains it in %3.":
            "%1 verweist auf eine andere Entität als %2, die es in %3 enthält.",
        "%1 refers to no request before this one that was answered with an ETag.":
            "%1 verweist auf keine frühere Anfrage, die mit einem ETag beantwortet wurde.",
        "%1 refers to no request before this one.": "%1 verweist auf keine frühere Anfrage.",
        "%1 requires a sign-in.": "%1 verlangt eine Anmeldung.",
        "%1 results are being kept for this caller already. Read them to their end first.":
            "Für diesen Aufrufer werden schon %1 Ergebnisse aufbewahrt. Sie zuerst zu Ende lesen.",
        "%1 streams that lack bytes are loaded again by the next download.":
            "%1 unvollständige Streams lädt der nächste Download neu.",
        "%1 was answered without an entity.": "%1 wurde ohne Entität beantwortet.",
        "%1: read whole with it": "%1: ganz mitgelesen",
        "1 change is": "1 Änderung wird",
        "A batch cannot contain another batch.": "Ein Batch kann keinen anderen Batch enthalten.",
        "A batch within a transaction": "Ein Batch in einer Transaktion",
        "A change of %1 without values": "Eine Änderung von %1 ohne Werte",
        "A change set cannot hold the read %1.": "Eine Änderungsgruppe kann das Lesen %1 nicht enthalten.",
        """
        A collection is changed as a whole, without the type %1 in the path. Send the request to the collection \
        itself.
        """:
            """
        Eine Sammlung wird als Ganzes geändert, ohne den Typ %1 im Pfad. Die Anfrage an die Sammlung selbst \
        senden.
        """,
        "A key of %1": "Ein Schlüssel von %1",
        "A media entity by the path %1": "Eine Medienentität unter dem Pfad %1",
        "A media entity of %1": "Eine Medienentität von %1",
        "A member is missing.": "Ein Element fehlt.",
        """
        A nested collection of the response needs more than %1 bytes of memory. Ask for less with $filter, \
        $select or top.
        """:
            """
        Eine eingebettete Sammlung der Antwort braucht mehr als %1 Bytes Speicher. Mit $filter, $select oder \
        top weniger verlangen.
        """,
        "A path behind entities that are not stored": "Ein Pfad hinter Entitäten, die nicht gespeichert sind",
        "A read as a change": "Ein Lesen als Änderung",
        "A reference to an entity was expected in the body.": "Ein Verweis auf eine Entität wurde im Inhalt erwartet.",
        "A removed member needs its id or key.": "Ein entferntes Element braucht seine Kennung oder seinen Schlüssel.",
        "A request of the same change set was refused.": "Eine Anfrage derselben Änderungsgruppe wurde abgelehnt.",
        "A rule of the database's own ignores this change of %1.":
            "Eine eigene Regel der Datenbank übergeht diese Änderung von %1.",
        "A snapshot of this": "Ein Schnappschuss davon",
        "A stream by the path %1": "Ein Stream unter dem Pfad %1",
        "A stream is sent separately and cannot be part of a change set. Change it outside of the transaction.":
            """
        Ein Stream wird getrennt gesendet und kann nicht Teil einer Änderungsgruppe sein. Ihn außerhalb der \
        Transaktion ändern.
        """,
        "A stream of %1 bytes does not fit within an entity; read it by its URL.":
            "Ein Stream von %1 Bytes passt nicht in eine Entität; ihn unter seiner URL lesen.",
        "An alternate key here": "Ein alternativer Schlüssel hier",
        "An entity was expected in the body.": "Eine Entität wurde im Inhalt erwartet.",
        "An entity with the same %1 exists already.": "Eine Entität mit demselben Wert von %1 gibt es schon.",
        "An expression as the parameter %1": "Ein Ausdruck als Parameter %1",
        "An index needs a property.": "Ein Index braucht eine Eigenschaft.",
        "An operation on this path": "Eine Operation auf diesem Pfad",
        "An option nested in $select of %1": "Eine Option in $select von %1",
        "An option of $expand=%1 here": "Eine Option von $expand=%1 hier",
        "Binding %1": "Das Binden von %1",
        "Changing %1": "Das Ändern von %1",
        "Changing %1 offline": "Das Ändern von %1 ohne Netz",
        "Changing a filtered collection without $each": "Das Ändern einer gefilterten Sammlung ohne $each",
        "Changing the service root": "Das Ändern der Wurzel des Dienstes",
        "Deep insert into %1": "Das tiefe Anlegen in %1",
        "Deep insert of %1": "Das tiefe Anlegen von %1",
        "Deep update of %1": "Das tiefe Ändern von %1",
        "Drafts of %1": "Entwürfe von %1",
        "Entities of %1 cannot be changed offline, because the key part %2 is in a complex property.":
            """
        Entitäten von %1 sind offline nicht zu ändern, weil der Teil %2 des Schlüssels in einer komplexen \
        Eigenschaft steht.
        """,
        "Entities were expected at the URL.": "Unter der URL wurden Entitäten erwartet.",
        "Everything is compared with the service by the next download: %1":
            "Der nächste Download vergleicht alles mit dem Dienst: %1",
        "Linking %1": "Das Verknüpfen von %1",
        "Linking %1 offline": "Das Verknüpfen von %1 ohne Netz",
        "Only a resource that is made of rows can be explained.": "Nur eine Ressource aus Zeilen kann erklärt werden.",
        "Query options on a collection of primitive values": "Abfrageoptionen auf einer Sammlung einfacher Werte",
        "Query options on the count of a collection of primitive values":
            "Abfrageoptionen auf der Anzahl einer Sammlung einfacher Werte",
        "References to entities were expected in the body.": "Verweise auf Entitäten wurden im Inhalt erwartet.",
        "Request %1 has been sent and cannot be undone.":
            "Die Anfrage %1 ist gesendet und kann nicht rückgängig gemacht werden.",
        "Streams here": "Streams hier",
        "Streams in a change set": "Streams in einer Änderungsgruppe",
        "Streams of %1": "Streams von %1",
        "Streams of %1 offline": "Streams von %1 ohne Netz",
        "Taking away %1": "Das Lösen von %1",
        "The answer to %1 has no value %2.": "Die Antwort auf %1 hat keinen Wert %2.",
        "The answer was lost, and the service cannot tell whether the request acted.":
            "Die Antwort ging verloren, und der Dienst kann nicht sagen, ob die Anfrage ausgeführt wurde.",
        "The body exceeds %1 bytes.": "Der Inhalt ist größer als %1 Bytes.",
        "The bytes of %1 are not in the store any more.": "Die Bytes von %1 sind nicht mehr im Speicher.",
        "The bytes of the stream were expected.": "Die Bytes des Streams wurden erwartet.",
        "The change would make %1 invisible to you.": "Die Änderung würde %1 für diesen Benutzer unsichtbar machen.",
        "The changes since this delta link are no longer known; read the collection again.":
            "Die Änderungen seit diesem Delta-Link sind nicht mehr bekannt; die Sammlung neu lesen.",
        "The condition %1 does not hold.": "Die Bedingung %1 gilt nicht.",
        "The database refuses: %1.": "Die Datenbank lehnt ab: %1.",
        "The database's rule %1 is broken.": "Die Regel %1 der Datenbank ist verletzt.",
        "The deletion would take more than %1 levels of entities with it.":
            "Die Löschung nähme mehr als %1 Ebenen von Entitäten mit.",
        "The delta token belongs to another query.": "Das Delta-Token gehört zu einer anderen Abfrage.",
        "The delta token is none that this service gave out.": "Das Delta-Token stammt nicht von diesem Dienst.",
        "The entity of %1 that contains it is not here any more.":
            "Die Entität von %1, die es enthält, ist nicht mehr da.",
        "The entity to change has no id. Add @id or its key.":
            "Die zu ändernde Entität hat keine Kennung. @id oder den Schlüssel angeben.",
        "The indexes were made again.": "Die Indizes wurden neu gebaut.",
        "The key of %1 lacks %2.": "Im Schlüssel von %1 fehlt %2.",
        "The key value %1 is missing.": "Der Schlüsselwert %1 fehlt.",
        "The link needs its target.": "Die Verknüpfung braucht ihr Ziel.",
        "The link to the next page leads back to an earlier one.":
            "Der Verweis auf die nächste Seite führt zu einer früheren zurück.",
        "The members of the collection were expected in the body.":
            "Die Elemente der Sammlung wurden im Inhalt erwartet.",
        "The option $id must name the entity.": "Die Option $id muss die Entität nennen.",
        "The parameter %1 is missing.": "Der Parameter %1 fehlt.",
        "The parameter %1 must be of type %2.": "Der Parameter %1 muss den Typ %2 haben.",
        "The path behind the operation": "Der Pfad hinter der Operation",
        "The request '%1', on which this one depends, was refused.":
            "Die Anfrage '%1', von der diese abhängt, wurde abgelehnt.",
        "The request is more complex than the store can answer at once.":
            "Die Anfrage ist zu verwickelt für eine Antwort auf einmal.",
        """
        The request takes longer than %1 of processor time. Narrow it with $filter on indexed properties, or ask \
        for less at once.
        """:
            """
        Die Anfrage braucht mehr als %1 Rechenzeit. Sie mit $filter auf Eigenschaften mit Index \
        einschränken, oder weniger auf einmal verlangen.
        """,
        """
        The response has more than %1 rows over all levels. Ask for fewer with $top, $filter, maxpagesize or \
        less $expand.
        """:
            """
        Die Antwort hat über alle Ebenen mehr als %1 Zeilen. Mit $top, $filter, maxpagesize oder weniger \
        $expand weniger verlangen.
        """,
        """
        The response needs more than %1 bytes of memory at once. Ask for less with $select, $top, maxpagesize or \
        less $expand.
        """:
            """
        Die Antwort braucht mehr als %1 Bytes Speicher auf einmal. Mit $select, $top, maxpagesize oder \
        weniger $expand weniger verlangen.
        """,
        "The result %1": "Das Ergebnis %1",
        "The result has more than %1 rows that nothing tells apart. Ask for fewer with $filter or $top.":
            """
        Das Ergebnis hat mehr als %1 Zeilen, die sich nicht unterscheiden. Mit $filter oder $top weniger \
        verlangen.
        """,
        "The result has more than %1 rows. Read the rows one after the other, or take less.":
            "Das Ergebnis hat mehr als %1 Zeilen. Die Zeilen nacheinander lesen, oder weniger verlangen.",
        "The result that this page belongs to is no longer kept; ask for the first page again.":
            "Das Ergebnis dieser Seite wird nicht mehr aufbewahrt; die erste Seite neu verlangen.",
        "The result of a query is something else than one row.":
            "Das Ergebnis einer Abfrage ist etwas anderes als eine Zeile.",
        "The row filter of %1 is wrong: %2": "Der Zeilenfilter von %1 ist falsch: %2",
        "The row of %1 is gone after the change.": "Die Zeile von %1 ist nach der Änderung weg.",
        "The service answered %1, which does not confirm the change.":
            "Der Dienst antwortete mit %1, was die Änderung nicht bestätigt.",
        "The service answered a query without a collection.": "Der Dienst beantwortete eine Abfrage ohne Sammlung.",
        "The service answered the defining query %1 (%2), and its answer cannot be used: %3":
            "Der Dienst beantwortete die definierende Abfrage %1 (%2), und die Antwort ist nicht brauchbar: %3",
        "The service answered the request for %1 with another entity.":
            "Der Dienst beantwortete die Anfrage für %1 mit einer anderen Entität.",
        "The service refused the defining query %1 (%2): %3":
            "Der Dienst lehnte die definierende Abfrage %1 (%2) ab: %3",
        "The service's model has no %1 any more.": "Das Modell des Dienstes hat kein %1 mehr.",
        "The snapshot is no longer kept; read the collection again.":
            "Der Schnappschuss wird nicht mehr aufbewahrt; die Sammlung neu lesen.",
        "The stream exceeds %1 bytes.": "Der Stream ist größer als %1 Bytes.",
        "The stream was removed while it was taken in.": "Der Stream wurde während der Aufnahme entfernt.",
        "The stream was replaced while it was read.": "Der Stream wurde während des Lesens ersetzt.",
        "The value of %1 was expected in the body.": "Der Wert von %1 wurde im Inhalt erwartet.",
        "This path": "Dieser Pfad",
        "This path through %1": "Dieser Pfad durch %1",
        "This request": "Diese Anfrage",
        "This resource of a virtual entity set": "Diese Ressource einer virtuellen Entitätsmenge",
        "This resource within a transaction": "Diese Ressource in einer Transaktion",
        "This result": "Dieses Ergebnis",
        "Tracking changes of %1": "Das Verfolgen von Änderungen an %1",
        "Whether the request acted cannot be told: the server died meanwhile, and others changed the same rows since.":
            """
        Ob die Anfrage ausgeführt wurde, ist unbekannt: der Server brach ab, und andere haben dieselben \
        Zeilen seitdem geändert.
        """,
        "You do not have permission for this operation on %1.": "Für diesen Vorgang an %1 fehlt die Berechtigung.",
        "You do not have permission to change %1.": "Die Berechtigung fehlt, %1 zu ändern.",
        "You do not have permission to use %1.": "Die Berechtigung fehlt, %1 zu benutzen.",
        "a cast here": "eine Typumwandlung hier",
        "a comparison of %1": "ein Vergleich von %1",
        "a dynamic query over %1": "eine dynamische Abfrage über %1",
        "a query without columns": "eine Abfrage ohne Spalten",
        "a collection without an entity set": "eine Sammlung ohne Entitätsmenge",
        "a hierarchy of values that are no entities": "eine Hierarchie von Werten, die keine Entitäten sind",
        "a key here": "ein Schlüssel hier",
        "a path without an entity set": "ein Pfad ohne Entitätsmenge",
        "average of %1": "Der Durchschnitt von %1",
        "concat of rows of different sets": "concat von Zeilen verschiedener Mengen",
        "concat within %1": "concat in %1",
        "everything again, and compared": "alles neu, mit Vergleich",
        "groupby of %1": "groupby von %1",
        "not downloaded yet": "noch nicht heruntergeladen",
        "only what changed, by the service's delta link": "nur Geändertes, mit dem Delta-Link des Dienstes",
        "sum of %1": "Die Summe von %1",
        "the entity set %1": "die Entitätsmenge %1",
        "the key of %1": "der Schlüssel von %1",
        "the operation": "die Operation",
        "the operation %1": "die Operation %1",
        "the path behind %1": "der Pfad hinter %1",
        "the property %1": "die Eigenschaft %1",
        "the store is a copy, was restored from a backup, or was moved to another volume":
            "der Speicher eine Kopie ist, aus einer Sicherung stammt oder das Dateisystem gewechselt hat",
        "the store was not made by this user on this device":
            "der Speicher nicht von diesem Benutzer auf diesem Gerät angelegt wurde",
        "the store was put back to an earlier state": "der Speicher auf einen früheren Stand gesetzt wurde",
        "this collection": "diese Sammlung",
        "this property": "diese Eigenschaft",
    ]
}
