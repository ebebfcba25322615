extension AppContent {
    /// The file of the program.
    var program: String {
        """
        \(Self.imports("Foundation", "OutpostKit", names.library))

        /// The program: brings rows, lists them and sends changes.
        @main
        struct Program {
            static let usage = \"""
                usage: \(names.package) COMMAND [--folder FOLDER] [--service URL]

                  pull              bring the rows of the service: all at first, later the changes
                  push              send the changes that wait
                  status            show the kept sets and the number of changes that wait
                  sets              show the names of the sets
                  list SET [COUNT]  show the first rows of a set as JSON, 20 unless COUNT says otherwise

                The store is in \(names.package).store unless --folder or \(names.environment)_FOLDER names another folder.
                If the service needs a sign-in, set \(names.environment)_USER and \(names.environment)_PASSWORD, or \(names.environment)_TOKEN.
                \"""

            static func main() async {
                do {
                    try await run(Array(CommandLine.arguments.dropFirst()))
                } catch let error as UsageError {
                    fail("\\(error.message)\\n\\n\\(usage)", code: 2)
                } catch {
                    fail("\\(error)", code: 1)
                }
            }

            private static func run(_ given: [String]) async throws {
                var arguments = given
                let environment = ProcessInfo.processInfo.environment
                let folder =
                    try option("--folder", of: &arguments) ?? environment["\(names.environment)_FOLDER"] ?? "\(names.package).store"
                let root = try option("--service", of: &arguments) ?? \(names.store).serviceRoot
                guard let command = arguments.first, !["help", "--help", "-h"].contains(command) else {
                    return print(usage)
                }
                guard ["pull", "push", "status", "sets", "list"].contains(command) else {
                    throw UsageError(message: "There is no command '\\(command)'.")
                }
                if command == "sets" { return \(names.store).sets.forEach { print($0) } }
                let authentication = signIn(environment)
                let app = try await \(names.store).open(in: folder, serviceRoot: root, keys: FileSecretStore()) { root, model in
                    try ODataClient(
                        serviceRoot: root, transport: URLSessionTransport(), authentication: authentication, model: model)
                }
                switch command {
                case "pull": print("\\(try await app.store.download().received) rows received")
                case "push": try await push(app)
                case "status": try await showStatus(of: app)
                default: try await list(arguments.dropFirst(), of: app)
                }
                try app.store.close()
            }

            private static func push(_ app: \(names.store)) async throws {
                let report = try await app.store.upload()
                print("\\(report.accepted.count) accepted, \\(report.failed.count) refused, \\(report.waiting.count) waiting")
            }

            private static func showStatus(of app: \(names.store)) async throws {
                let status = try await app.store.observe.status()
                for query in status.queries {
                    print("\\(query.name): \\(query.isLoaded ? "\\(query.rows) rows" : "not downloaded yet")")
                }
                print("\\(status.pending.count) changes wait")
            }

            private static func list(_ arguments: ArraySlice<String>, of app: \(names.store)) async throws {
                guard let set = arguments.first else { throw UsageError(message: "Name a set.") }
                let text = arguments.dropFirst().first ?? "20"
                guard let count = Int(text), count >= 0 else {
                    throw UsageError(message: "COUNT is a number, not '\\(text)'.")
                }
                guard let rows = try await app.rows(of: set, top: count) else {
                    throw UsageError(message: "There is no set '\\(set)'. See: \(names.package) sets")
                }
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                for row in rows { print(String(decoding: try encoder.encode(row), as: UTF8.self)) }
            }

            /// The sign-in that the environment names.
            private static func signIn(_ environment: [String: String]) -> Authentication {
                if let token = environment["\(names.environment)_TOKEN"] { return .bearer { token } }
                guard let user = environment["\(names.environment)_USER"] else { return .none }
                return .basic(user: user, password: environment["\(names.environment)_PASSWORD"] ?? "")
            }

            /// Removes an option and its value from the arguments.
            private static func option(_ name: String, of arguments: inout [String]) throws -> String? {
                guard let index = arguments.firstIndex(of: name) else { return nil }
                guard index + 1 < arguments.count else { throw UsageError(message: "\\(name) needs a value.") }
                arguments.remove(at: index)
                return arguments.remove(at: index)
            }

            private static func fail(_ message: String, code: Int32) -> Never {
                FileHandle.standardError.write(Data("\\(message)\\n".utf8))
                exit(code)
            }
        }

        /// A mistake in the arguments.
        struct UsageError: Error {
            var message: String
        }

        """
    }
}
