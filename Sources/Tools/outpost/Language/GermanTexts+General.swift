extension GermanTexts {
    /// The texts of the tool as a whole.
    static let general: [String: String] = [
        "Take OData services offline.": "OData-Dienste offline nehmen.",
        """
        Clone a part of a service into an encrypted store and work on it without a network. Then push your \
        changes, and pull those of others.
        """:
            """
        Einen Teil eines Dienstes in einen verschlüsselten Speicher klonen und ohne Netz daran arbeiten. \
        Danach die eigenen Änderungen senden und die der anderen abholen.
        """,
        """
        EXIT CODES
          0  done
          1  the command was refused or failed
          2  the command line is wrong
          3  the service refused some changes; see 'outpost changes DIR --failed'
        """:
            """
        RÜCKGABEWERTE
          0  erledigt
          1  der Befehl wurde abgelehnt oder ist gescheitert
          2  die Befehlszeile ist falsch
          3  der Dienst hat Änderungen abgelehnt; siehe 'outpost changes DIR --failed'
        """,
        "The input ended without an answer.": "Die Eingabe endete ohne Antwort.",
        "The output cannot be written: %1.": "Die Ausgabe kann nicht geschrieben werden: %1.",
        "%1 bytes": "%1 Bytes",
    ]
}
