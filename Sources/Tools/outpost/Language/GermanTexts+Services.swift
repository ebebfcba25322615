extension GermanTexts {
    /// The texts of services: sign-in, metadata and code.
    static let services: [String: String] = [
        "Generate Swift types for a service, with queries that the compiler checks.":
            "Swift-Typen für einen Dienst erzeugen, mit Abfragen, die der Compiler prüft.",
        """
        The source of the metadata is a file in XML or JSON, the address of a document, or the root of a \
        service. Obsolete files of an earlier run are removed; other files are not touched.
        """:
            """
        Die Metadaten kommen aus einer Datei in XML oder JSON, von der Adresse eines Dokuments oder von der \
        Wurzel eines Dienstes. Veraltete Dateien eines früheren Laufs werden entfernt; andere Dateien \
        bleiben unberührt.
        """,
        """
        The configuration file is JSON. It may have name, access (public, package, internal), sets, types, \
        navigation (selected, contained, all), operations (all, none), files and names. The last one replaces \
        generated names: {"names": {"Shop.Order": "PurchaseOrder", "Shop.Order/Freight": "charge"}}. Options on \
        the command line take precedence.
        """:
            """
        Die Konfigurationsdatei ist JSON. Sie kann name, access (public, package, internal), sets, types, \
        navigation (selected, contained, all), operations (all, none), files und names enthalten. Das letzte \
        ersetzt erzeugte Namen: {"names": {"Shop.Order": "PurchaseOrder", "Shop.Order/Freight": "charge"}}. \
        Optionen der Befehlszeile haben Vorrang.
        """,
        "A file or an address.": "Eine Datei oder eine Adresse.",
        "The folder for the files; it is created if it is missing.":
            "Der Ordner für die Dateien; er wird angelegt, wenn er fehlt.",
        "sets": "Mengen",
        """
        An entity set, singleton or operation to generate, with the types that it needs. Separate several by \
        commas, or repeat the option; the default is all.
        """:
            """
        Eine Entitätsmenge, ein Singleton oder eine Operation, zu erzeugen mit den nötigen Typen. Mehrere \
        mit Kommas trennen oder die Option wiederholen; ohne Angabe alle.
        """,
        "A configuration file.": "Eine Konfigurationsdatei.",
        "The name of the service: the generated type is <name>Service.":
            "Der Name des Dienstes: der erzeugte Typ heißt <name>Service.",
        "The access level: public, package or internal.": "Die Sichtbarkeit: public, package oder internal.",
        "The number of files for the types; the default is one file for each type.":
            "Die Anzahl der Dateien für die Typen; ohne Angabe eine Datei für jeden Typ.",
        "Write business objects of an object package instead of a service.":
            "Geschäftsobjekte eines Objektpakets statt eines Dienstes schreiben.",
        "Reading metadata": "Metadaten werden gelesen",
        "Generating": "Code wird erzeugt",
        "%1 cannot be written to: %2.": "In %1 kann nicht geschrieben werden: %2.",
        "Give a folder of your own with --output.": "Mit --output einen eigenen Ordner angeben.",
        "List the settings: outpost generate --help": "Die Einstellungen auflisten: outpost generate --help",
        "%1: %2, %3, %4, %5 in %6": "%1: %2, %3, %4, %5 in %6",
        "structured type": "strukturierter Typ",
        "structured types": "strukturierte Typen",
        "enumeration": "Aufzählung",
        "enumerations": "Aufzählungen",
        "file": "Datei",
        "files": "Dateien",
        "line": "Zeile",
        "lines": "Zeilen",
        "%1 written, %2 unchanged, %3 removed": "%1 geschrieben, %2 unverändert, %3 entfernt",
        "%1 left out:": "%1 ausgelassen:",
        "element": "Element",
        "elements": "Elemente",
        "  … (all with --json)": "  … (alle mit --json)",
        "Sign in at a service with OAuth 2, in a browser.": "Bei einem Dienst mit OAuth 2 anmelden, in einem Browser.",
        """
        You sign in on this machine (--browser), or with a short code on any other one (--device). The tokens \
        are kept encrypted in the vault 'sign-ins'. Every command for the same host uses and renews them, unless \
        you give --user or --token-file.
        """:
            """
        Angemeldet wird auf diesem Rechner (--browser) oder mit einem kurzen Code auf einem beliebigen \
        anderen (--device). Die Token stehen verschlüsselt im Tresor 'sign-ins'. Jeder Befehl für denselben \
        Host benutzt und erneuert sie, außer mit --user oder --token-file.
        """,
        """
        You need an app that is registered at the authorization server; --client-id names it. The tool knows the \
        addresses if the service names its authorization server. It also knows Microsoft Graph, Dynamics 365, \
        Business Central and SAP systems. Otherwise give --issuer, or --token-url with --device-url or \
        --authorize-url.
        """:
            """
        Nötig ist eine App, die beim Anmeldeserver registriert ist; --client-id nennt sie. Das Werkzeug \
        kennt die Adressen, wenn der Dienst seinen Anmeldeserver nennt. Es kennt auch Microsoft Graph, \
        Dynamics 365, Business Central und SAP-Systeme. Sonst --issuer angeben, oder --token-url mit \
        --device-url oder --authorize-url.
        """,
        "Enter a code in a browser on any machine.":
            "Einen Code in einem Browser auf einem beliebigen Rechner eingeben.",
        "Use the browser of this machine.": "Den Browser dieses Rechners benutzen.",
        "The minutes to wait for the browser.": "So viele Minuten auf den Browser warten.",
        "A PEM file with certificates to trust in addition to those of the system.":
            "Eine PEM-Datei mit Zertifikaten, denen zusätzlich zu denen des Systems vertraut wird.",
        "--device and --browser exclude each other.": "--device und --browser schließen einander aus.",
        "--wait takes 1 to 60 minutes.": "--wait nimmt 1 bis 60 Minuten.",
        "The sign-in was given up; nothing was kept.": "Die Anmeldung wurde aufgegeben; es wurde nichts behalten.",
        "To begin again, run the same command.": "Um neu zu beginnen, denselben Befehl noch einmal ausführen.",
        "Waiting for the sign-in (Ctrl-C gives up)": "Warten auf die Anmeldung (Strg-C bricht ab)",
        "To sign in at %1, open this page in a browser:": "Zum Anmelden bei %1 diese Seite in einem Browser öffnen:",
        "and enter this code: %1": "und diesen Code eingeben: %1",
        "A browser opens to sign in at %1. If it does not, open this page on this machine:":
            "Ein Browser öffnet sich zum Anmelden bei %1. Wenn nicht, diese Seite auf diesem Rechner öffnen:",
        "To sign in at %1, open this page in a browser on this machine:":
            "Zum Anmelden bei %1 diese Seite in einem Browser auf diesem Rechner öffnen:",
        "Waiting for the browser (Ctrl-C gives up)": "Warten auf den Browser (Strg-C bricht ab)",
        "Give addresses that begin with https.": "Adressen angeben, die mit https beginnen.",
        "Use the browser: --browser": "Den Browser benutzen: --browser",
        "Look at --issuer, or name the endpoints with --token-url and --device-url.":
            "--issuer prüfen, oder die Adressen mit --token-url und --device-url nennen.",
        "Look at --client-id and --scope, and at how the app is registered.":
            "--client-id und --scope prüfen, und wie die App registriert ist.",
        "Nothing was kept. Another page may have interfered: close it, and run the same command again.":
            """
        Es wurde nichts behalten. Eine andere Seite kann sich eingemischt haben: sie schließen und denselben \
        Befehl noch einmal ausführen.
        """,
        "Ask the operator of the authorization server.": "Den Betreiber des Anmeldeservers fragen.",
        "Signed in at %1, by %2.": "Angemeldet bei %1, durch %2.",
        """
        The server gave no refresh token, so the sign-in ends with its first token. Some servers want --scope \
        offline_access besides the others.
        """:
            """
        Der Server gab kein Token zum Erneuern; die Anmeldung endet mit ihrem ersten Token. Manche Server \
        verlangen zusätzlich --scope offline_access.
        """,
        "End the sign-in at a service.": "Die Anmeldung bei einem Dienst beenden.",
        """
        Removes the tokens from the vault, and revokes them at the authorization server if it allows that. \
        Clones and their keys stay.
        """:
            """
        Entfernt die Token aus dem Tresor und widerruft sie beim Anmeldeserver, wenn er das erlaubt. Klone \
        und ihre Schlüssel bleiben.
        """,
        "There is no sign-in at %1.": "Bei %1 besteht keine Anmeldung.",
        "The tokens were removed from this machine, but not revoked. %1":
            "Die Token wurden von diesem Rechner entfernt, aber nicht widerrufen. %1",
        "They stay valid at the server until they expire. End the session there, if it lets you.":
            "Sie gelten beim Server, bis sie ablaufen. Die Sitzung dort beenden, wenn das möglich ist.",
        "The sign-in at %1 has ended.": "Die Anmeldung bei %1 ist beendet.",
        "The server has no address at which tokens are revoked: those that it gave stay valid until they expire.":
            "Der Server hat keine Adresse zum Widerrufen: seine Token gelten, bis sie ablaufen.",
        "Look at, check, convert and compare metadata documents.":
            "Metadaten ansehen, prüfen, umwandeln und vergleichen.",
        """
        Metadata are given as a file in XML or JSON, as the address of a document, or as the root of a service. The \
        directory of a clone stands for its service.
        """:
            """
        Metadaten werden als Datei in XML oder JSON angegeben, als Adresse eines Dokuments oder als Wurzel \
        eines Dienstes. Auch das Verzeichnis eines Klons ist möglich, der die seines Dienstes hat.
        """,
        "List the entity sets, singletons and types of a service.":
            "Die Entitätsmengen, Singletons und Typen eines Dienstes auflisten.",
        "A file, an address, or the directory of a clone.":
            "Eine Datei, eine Adresse oder das Verzeichnis eines Klons.",
        "An entity set, singleton or type to look into.":
            "Eine Entitätsmenge, ein Singleton oder ein Typ, der gezeigt wird.",
        "OData %1, %2, %3, %4, %5": "OData %1, %2, %3, %4, %5",
        "entity type": "Entitätstyp",
        "entity types": "Entitätstypen",
        "complex type": "komplexer Typ",
        "complex types": "komplexe Typen",
        "enumeration type": "Aufzählungstyp",
        "enumeration types": "Aufzählungstypen",
        "operation": "Operation",
        "operations": "Operationen",
        "Set": "Menge",
        "Type": "Typ",
        "Properties": "Eigenschaften",
        "Navigation": "Navigation",
        "Operations: %1": "Operationen: %1",
        "The metadata declare no set, singleton or type %1.":
            "Die Metadaten deklarieren keine Menge, kein Singleton und keinen Typ %1.",
        "List the names: outpost metadata show %1": "Die Namen auflisten: outpost metadata show %1",
        "Null": "Null",
        "Label": "Bezeichnung",
        "yes": "ja",
        "no": "nein",
        "Check that metadata can be read, and list their faults.":
            "Prüfen, ob Metadaten lesbar sind, und ihre Fehler auflisten.",
        """
        Warns of unreadable elements, which are omitted, and of undeclared names and paths. Ends with 0 if the \
        document can be read, with or without warnings, and with 1 if it cannot.
        """:
            """
        Warnt vor Elementen, die nicht lesbar sind und ausgelassen werden, und vor jedem Namen und Pfad, der \
        auf nichts in den Dokumenten führt. Endet mit 0, wenn das Dokument lesbar ist, mit oder ohne \
        Warnungen, sonst mit 1.
        """,
        "Refuse invalid facets, invalid names, and names that differ only in case.":
            """
        Unmögliche Facetten ablehnen, ungültige Namen und solche, die sich nur in der Groß- und \
        Kleinschreibung unterscheiden.
        """,
        "Read the documents it refers to as well.": "Auch die Dokumente lesen, auf die es verweist.",
        "Valid: OData %1, %2, %3.": "Gültig: OData %1, %2, %3.",
        "warning": "Warnung",
        "warnings": "Warnungen",
        "Write metadata in another version or format.":
            "Metadaten in einer anderen Version oder einem anderen Format schreiben.",
        """
        Elements that the version or format cannot express are omitted and named on standard error. Annotations of a \
        file become part of the document.
        """:
            """
        Angaben, die Version oder Format nicht ausdrücken können, werden ausgelassen und in der \
        Fehlerausgabe genannt. Annotationen einer Datei werden Teil des Dokuments.
        """,
        "4.01, 4.0, 3.0, 2.0, 1.0, or json.": "4.01, 4.0, 3.0, 2.0, 1.0 oder json.",
        "The file to write; standard output when left out.":
            "Die Datei, die geschrieben wird; ohne Angabe die Standardausgabe.",
        "Report warnings and omissions as JSON; needs --output.":
            "Warnungen und Auslassungen als JSON ausgeben; verlangt --output.",
        "--to is 4.01, 4.0, 3.0, 2.0, 1.0 or json.": "--to ist 4.01, 4.0, 3.0, 2.0, 1.0 oder json.",
        "--json goes with --output.": "--json gehört zu --output.",
        "left out:": "ausgelassen:",
        "Compare two versions of metadata, and say whether clients can continue.":
            "Zwei Versionen von Metadaten vergleichen, und ob Clients weiterarbeiten können.",
        "Ends with 0 if clients of the older version can continue with the newer one, and with 1 if they cannot.":
            "Endet mit 0, wenn Clients der älteren Version mit der neueren weiterarbeiten können, sonst mit 1.",
        "The older version: a file, an address, or a clone.":
            "Die ältere Version: eine Datei, eine Adresse oder ein Klon.",
        "The newer version: a file, an address, or a clone.":
            "Die neuere Version: eine Datei, eine Adresse oder ein Klon.",
        "compatible": "verträglich",
        "incompatible": "unverträglich",
        "No differences.": "Keine Unterschiede.",
        "%1, %2 incompatible.": "%1, %2 unverträglich.",
        "difference": "Unterschied",
        "differences": "Unterschiede",
        "Print the vocabulary of object packages, %1.": "Das Vokabular der Objektpakete ausgeben, %1.",
        """
        The document declares the terms that metadata, or a file for --annotations, may have for packages of \
        business objects.
        """:
            """
        Das Dokument deklariert die Begriffe für Pakete von Geschäftsobjekten, die Metadaten oder eine Datei \
        für --annotations enthalten können.
        """,
        "Print the document as CSDL JSON.": "Das Dokument als CSDL-JSON ausgeben.",
        """
        A file with annotations of the metadata, such as the terms of an object package. Repeat the option for \
        several files.
        """:
            """
        Eine Datei mit Annotationen der Metadaten, etwa den Begriffen eines Objektpakets. Für mehrere \
        Dateien die Option wiederholen.
        """,
        "Give a file, or an address with https://.": "Eine Datei angeben, oder eine Adresse mit https://.",
        "an address it does not name": "eine Adresse, die sie nicht nennt",
        "%1 answered %2.": "%1 antwortete mit %2.",
        "Create an app package for a service: offline store, typed proxies, program and tests.":
            "Ein App-Paket für einen Dienst anlegen: Offline-Speicher, getypte Proxys, Programm und Tests.",
        """
        The metadata come from the service, or from a file. The package holds a library with an encrypted \
        offline store and the types of the service, and a small program for the terminal. Its tests need no \
        network. It builds as it is: cd NAME && swift test.
        """:
            """
        Die Metadaten kommen vom Dienst oder aus einer Datei. Das Paket enthält eine Bibliothek mit einem \
        verschlüsselten Offline-Speicher und den Typen des Dienstes, und ein kleines Programm für das \
        Terminal. Seine Tests brauchen kein Netz. Es lässt sich sofort bauen: cd NAME && swift test.
        """,
        """
        The package takes Outpost from the folder of --path, from the repository of --repository, or from the \
        folder 'outpost' beside the new package. Passwords, tokens, header fields and options are used for \
        reading the metadata and are not written into the package.
        """:
            """
        Das Paket nimmt Outpost aus dem Ordner von --path, aus dem Repository von --repository oder aus dem \
        Ordner 'outpost' neben dem neuen Paket. Kennwörter, Token, Kopffelder und Optionen dienen dem Lesen \
        der Metadaten und werden nicht in das Paket geschrieben.
        """,
        "The name of the package and of its program: letters, digits, '-' and '_'.":
            "Der Name des Pakets und seines Programms: Buchstaben, Ziffern, '-' und '_'.",
        "A file with the metadata, which are then not read from the service.":
            "Eine Datei mit den Metadaten, die dann nicht vom Dienst gelesen werden.",
        "The folder of the package Outpost, such as a checkout.":
            "Der Ordner des Pakets Outpost, etwa ein Arbeitsverzeichnis von Git.",
        "The Git repository of the package Outpost.": "Das Git-Repository des Pakets Outpost.",
        "An entity set or singleton that the app needs; several by commas, or repeated. All if left out.":
            """
        Eine Entitätsmenge oder ein Singleton, das die App braucht; mehrere mit Kommas, oder die Option \
        wiederholen. Ohne Angabe alle.
        """,
        "The folder of the new package; NAME if left out.": "Der Ordner des neuen Pakets; ohne Angabe NAME.",
        "Write into a folder that is not empty. Files that exist are never replaced.":
            "In einen Ordner schreiben, der nicht leer ist. Vorhandene Dateien werden nie ersetzt.",
        "Name the service with --service URL, or its metadata with --metadata FILE.":
            "Den Dienst mit --service URL nennen, oder seine Metadaten mit --metadata DATEI.",
        "--path and --repository exclude each other.": "--path und --repository schließen einander aus.",
        "%1 is a file.": "%1 ist eine Datei.",
        "Name another folder with --output.": "Mit --output einen anderen Ordner nennen.",
        "%1 is not empty.": "%1 ist nicht leer.",
        "Name another folder with --output, or add to this one with --force.":
            "Mit --output einen anderen Ordner nennen, oder mit --force in diesen schreiben.",
        "%1 is not the root of a service.": "%1 ist nicht die Wurzel eines Dienstes.",
        "Give an address such as https://host/service/": "Eine Adresse wie https://host/service/ angeben.",
        "%1 holds no Package.swift.": "%1 enthält kein Package.swift.",
        "Give the folder of a checkout of Outpost with --path.":
            "Mit --path den Ordner eines Arbeitsverzeichnisses von Outpost angeben.",
        "%1/%2 exists; nothing was written.": "%1/%2 gibt es schon; es wurde nichts geschrieben.",
        "Name another folder with --output, or move the file away.":
            "Mit --output einen anderen Ordner nennen, oder die Datei verschieben.",
        "Created %1: %2 with %3 and %4, the program %5, and tests.":
            "%1 wurde angelegt: %2 mit %3 und %4, das Programm %5 und Tests.",
        "set": "Menge",
        "It takes Outpost from the folder 'outpost' beside it; change that in %1/Package.swift.":
            "Outpost kommt aus dem Ordner 'outpost' daneben; zu ändern in %1/Package.swift.",
        "Its service is %1; change that in %2.swift.": "Der Dienst ist %1; zu ändern in %2.swift.",
        "Go on with: cd %1 && swift test": "Weiter mit: cd %1 && swift test",
        "Outpost has the answer. You can close this page and go back to the terminal.":
            "Outpost hat die Antwort. Diese Seite kann geschlossen werden; weiter geht es im Terminal.",
        "There is nothing here.": "Hier ist nichts.",
        "The identifier of the app that is registered for you.": "Die Kennung der App, die dafür registriert ist.",
        "A file with the secret of the app, for servers that demand one.":
            "Eine Datei mit dem Geheimnis der App, für Server, die eines verlangen.",
        "The authorization server. Its metadata name its endpoints.":
            "Der Anmeldeserver, dessen Metadaten seine Adressen nennen.",
        "The address at which a browser signs in.": "Die Adresse, an der sich ein Browser anmeldet.",
        "The address at which tokens are requested.": "Die Adresse, an der Token angefordert werden.",
        "The address at which a code for another device is requested.":
            "Die Adresse, an der ein Code für ein anderes Gerät angefordert wird.",
        "The access that is asked for; may be repeated.": "Der erbetene Zugriff; mehrfach möglich.",
        "--issuer excludes --authorize-url, --token-url and --device-url.":
            "--issuer schließt --authorize-url, --token-url und --device-url aus.",
        "--token-url goes together with --authorize-url or --device-url.":
            "--token-url gehört zu --authorize-url oder --device-url.",
        "The identifier of an app that is registered at the authorization server of %1 is missing.":
            "Die Kennung einer App fehlt, die beim Anmeldeserver von %1 registriert ist.",
        "Register one, or ask the operator of the service, and give it: --client-id ID":
            "Eine registrieren oder den Betreiber des Dienstes fragen, und sie angeben: --client-id ID",
        "%1 does not say where to sign in.": "%1 sagt nicht, wo die Anmeldung ist.",
        """
        Name the authorization server: --issuer URL
        Or its endpoints: --token-url URL, and --device-url URL or --authorize-url URL
        """:
            """
        Den Anmeldeserver nennen: --issuer URL
        Oder seine Adressen: --token-url URL, und --device-url URL oder --authorize-url URL
        """,
        "%1 is not the address of a service.": "%1 ist nicht die Adresse eines Dienstes.",
        "%1 is not an https address, so others on the network could read a token.":
            "%1 ist keine https-Adresse; andere im Netz könnten ein Token lesen.",
        "Use the https address of the service.": "Die https-Adresse des Dienstes benutzen.",
        "The sign-in at %1 cannot be read from the vault %2.":
            "Die Anmeldung bei %1 ist aus dem Tresor %2 nicht lesbar.",
        "Sign in again: outpost login %1": "Neu anmelden: outpost login %1",
        "Another command has been renewing the sign-in at %1 for too long.":
            "Ein anderer Befehl erneuert die Anmeldung bei %1 schon zu lange.",
        "End it, and run the same command again.": "Ihn beenden und denselben Befehl noch einmal ausführen.",
        "Password of the vault %1: ": "Kennwort des Tresors %1: ",
        "Open it by the key of this account alone: outpost vault password %1 --no-password":
            "Ihn mit dem Schlüssel dieses Kontos allein öffnen: outpost vault password %1 --no-password",
        "The sign-in at %1 was not renewed. %2": "Die Anmeldung bei %1 wurde nicht erneuert. %2",
    ]
}
