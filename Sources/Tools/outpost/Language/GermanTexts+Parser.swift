extension GermanTexts {
    /// The lines of the argument parser.
    static let parserLines: [(english: ParserText.Frame, german: ParserText.Frame)] = [
        (.init("OVERVIEW: "), .init("ÜBERSICHT: ")),
        (.init("USAGE: "), .init("AUFRUF: ")),
        (.init("Usage: "), .init("Aufruf: ")),
        (.init("ARGUMENTS:"), .init("ARGUMENTE:")),
        (.init("OPTIONS:"), .init("OPTIONEN:")),
        (.init("SUBCOMMANDS:"), .init("BEFEHLE:")),
        (.init("Help:  "), .init("Hilfe:  ")),
        (.init("  See '", "' for detailed help."), .init("  Siehe '", "' für ausführliche Hilfe.")),
        (.init("  See '", "' for more information."), .init("  Siehe '", "' für weitere Auskunft.")),
        (.init("Missing expected argument '", "'"), .init("Das Argument '", "' fehlt.")),
        (.init("Missing value for '", "'"), .init("Der Wert von '", "' fehlt.")),
        (.init("Missing one of: "), .init("Es fehlt eines von: ")),
        (.init("Missing required subcommand."), .init("Es fehlt der Befehl.")),
        (.init("Unknown option '", "'"), .init("Die Option '", "' gibt es nicht.")),
        (.init("Unknown option '", "'?"), .init("Die Option '", "'?")),
        (.init("Invalid option: "), .init("Ungültige Option: ")),
        (.init("Unexpected argument '", "'"), .init("Das Argument '", "' ist hier nicht vorgesehen.")),
        (.init("The option '", " was specified."), .init("Die Option '", " wurde angegeben.")),
        (.init("The value '"), .init("Der Wert '")),
        (.init("Value to be set with "), .init("Der Wert von ")),
    ]

    /// The words of the argument parser within lines.
    static let parserWords: [(english: String, german: String)] = [
        (" unexpected arguments: ", " Argumente sind hier nicht vorgesehen: "),
        ("'. Did you mean '", "' gibt es nicht. Gemeint: '"),
        ("' does not take any value, but '", "' nimmt keinen Wert, aber '"),
        ("' is invalid for '", "' ist ungültig für '"),
        ("' is invalid.", "' ist ungültig."),
        (" had already been set with ", " ist schon gesetzt mit "),
        (". Please provide one of ", ". Möglich sind "),
        ("Möglich sind the following:", "Möglich sind:"),
        ("Show help information.", "Hilfe zeigen."),
        ("Show subcommand help information.", "Hilfe zu einem Befehl zeigen."),
        ("Show the version.", "Version zeigen."),
        ("(default: ", "(Standard: "),
        ("; default: ", "; Standard: "),
        ("(values: ", "(Werte: "),
        (" (default)", " (Standard)"),
    ]

    /// The reasons of the system, as `strerror` gives them.
    static let system: [String: String] = [
        "Operation not permitted": "Der Vorgang ist nicht erlaubt",
        "No such file or directory": "Datei oder Verzeichnis nicht gefunden",
        "Input/output error": "Eingabe-/Ausgabefehler",
        "Permission denied": "Keine Berechtigung",
        "File exists": "Die Datei existiert bereits",
        "Not a directory": "Ist kein Verzeichnis",
        "Is a directory": "Ist ein Verzeichnis",
        "Too many open files": "Zu viele offene Dateien",
        "File too large": "Die Datei ist zu groß",
        "No space left on device": "Auf dem Gerät ist kein Platz mehr",
        "Read-only file system": "Das Dateisystem ist nur lesbar",
        "Broken pipe": "Die Pipe ist unterbrochen",
        "File name too long": "Der Dateiname ist zu lang",
        "Directory not empty": "Das Verzeichnis ist nicht leer",
        "Disk quota exceeded": "Der zugeteilte Platz ist aufgebraucht",
        "Invalid argument": "Ungültiges Argument",
        "Address already in use": "Die Adresse wird bereits verwendet",
        "Cannot assign requested address": "Die Adresse kann nicht zugewiesen werden",
    ]
}
