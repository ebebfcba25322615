import Foundation

extension AppContent {
    /// `README.md`.
    var readme: String {
        """
        # \(names.package)

        An app that takes a part of an OData service offline: an encrypted store, types for the entities of the service, and
        a small program for the terminal.

        ```sh
        \(commands)
        ```

        On Linux, the build needs `pkg-config`, `libsqlite3-dev`, `libxml2-dev` and `zlib1g-dev`. The service is
        `\(names.store).serviceRoot`; `--service URL` names another one for a new store. If the service needs a sign-in, set
        `\(names.environment)_USER` and `\(names.environment)_PASSWORD`, or `\(names.environment)_TOKEN`.

        The key of the store is a file that only you can read, in `~/.local/share/outpost/keys`. An app for a phone keeps it
        in the keychain instead: pass `KeychainSecretStore()` to `\(names.store).open`.

        ## What to change first

        | file | content |
        | --- | --- |
        | `Sources/\(names.library)/\(names.store).swift` | the queries whose rows are kept offline; at first whole entity sets |
        | `Sources/\(names.package)/Program.swift` | the program |
        | `Tests/\(names.library)Tests` | the tests, against a service in memory |
        | `\(names.generatedFolder)` | the generated types; do not edit them |
        | `odata-generator.json` | the names and sets of the generated types |

        \(example)When the metadata of the service changes, generate the types again:

        ```sh
        outpost generate \(Self.shellQuoted(options.serviceRoot)) --config odata-generator.json \\
          --output \(names.generatedFolder)
        ```

        """
    }

    private var first: KeptSet? { sets.first }

    /// The first commands, with comments in one column.
    private var commands: String {
        let lines = [
            ("swift test", "needs no network"),
            ("swift run \(names.package) pull", "brings the rows of the service"),
            ("swift run \(names.package) list '\(first?.name ?? "SET")'", "shows rows without the service"),
            ("swift run \(names.package) push", "sends the changes that wait"),
            ("swift run \(names.package) --help", "shows all commands"),
        ]
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { "\($0.padding(toLength: width, withPad: " ", startingAt: 0))  # \($1)" }
            .joined(separator: "\n")
    }

    /// Typed code for the first set.
    private var example: String {
        guard let first else { return "" }
        return """
            ```swift
            \(Self.imports("OutpostKit", names.library))

            let app = try await \(names.store).open(in: folder, keys: keys) { root, model in
                try ODataClient(serviceRoot: root, transport: URLSessionTransport(), model: model)
            }
            for row in try await app.service.\(first.member).top(10).all() { print(row) }
            try await app.store.sync()  // uploads the queue, then downloads the changes
            ```


            """
    }

    /// A text as one word of a shell.
    private static func shellQuoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
