extension AppContent {
    /// The file of the library with the store.
    var store: String {
        """
        \(Self.imports("ODataService", "OutpostKit"))

        /// The part of the service that this app keeps offline, in an encrypted store.
        ///
        /// Reads and changes need no network. A change waits in the queue of the store until it is uploaded.
        public struct \(names.store): Sendable {
            /// The root of the service.
            public static let serviceRoot = \(Translator.literal(options.serviceRoot))

            /// The queries whose rows are kept offline.
            ///
            /// Narrow them to the rows that the app needs:
            /// `try DefiningQuery("recent", "Orders?$filter=OrderDate gt 2026-01-01")`.
            public static func queries() throws -> [DefiningQuery] {
        \(list(sets, empty: "        []") { "            DefiningQuery(entitySet: \(Translator.literal($0.name)))," })
            }

            /// The store, with its queue and its error archive.
            public let store: OfflineStore
            /// The entity sets of the store, with types that the compiler checks.
            public let service: \(serviceType)

            /// Opens the store in a folder, or creates it if the folder holds none.
            ///
            /// - Parameters:
            ///   - folder: The folder.
            ///   - serviceRoot: The root of the service, for a store that is created.
            ///   - keys: The place of the key. A store cannot be opened without its key.
            ///   - keyName: The name of the key in this place.
            ///   - connect: Makes the client from the root of the service, and from the metadata that the store knows.
            public static func open(
                in folder: String, serviceRoot: String = Self.serviceRoot, keys: any SecretStore,
                keyName: String = "\(names.package)",
                connect: (_ serviceRoot: String, _ model: EntityDataModel?) throws -> any ODataProvider
            ) async throws -> Self {
                let name = try SecretName(keyName)
                let key = try keys.key(named: name) ?? keys.generateKey(named: name)
                let store: OfflineStore
                do {
                    store = try await OfflineStore.open(at: folder, protection: .encrypted(.key(key))) { root, model in
                        try connect(root, model)
                    }
                } catch OfflineError.noStore {
                    store = try await OfflineStore.create(
                        at: folder, protection: .encrypted(.key(key)), serviceRoot: serviceRoot,
                        remote: try connect(serviceRoot, nil), queries: try queries())
                }
                return Self(store: store, service: \(serviceType)(store))
            }

            /// The names of the entity sets that ``rows(of:top:)`` reads.
            public static let sets: [String] = [
        \(lines(sets) { "        \(Translator.literal($0.name))," })
            ]

            /// Returns the first rows of an entity set by its name, or `nil` for an unknown name.
            ///
            /// Use the sets of ``service`` if the set is known when the app is compiled.
            public func rows(of set: String, top count: Int) async throws -> [any TypedEntity]? {
                switch set {
        \(lines(sets) { "        case \(Translator.literal($0.name)): try await service.\($0.member).top(count).all()" })
                default: nil
                }
            }
        }

        """.split(separator: "\n", omittingEmptySubsequences: false).filter { $0 != Self.nothing }
            .joined(separator: "\n")
    }

    /// The mark of a line that goes.
    private static var nothing: String { "\u{0}" }

    private func lines(_ sets: [KeptSet], _ line: (KeptSet) -> String) -> String {
        sets.isEmpty ? Self.nothing : sets.map(line).joined(separator: "\n")
    }

    private func list(_ sets: [KeptSet], empty: String, _ line: (KeptSet) -> String) -> String {
        sets.isEmpty ? empty : "        [\n\(lines(sets, line))\n        ]"
    }
}
