extension AppContent {
    /// The file of the tests.
    var tests: String {
        """
        \(Self.imports("Foundation", "ODataStore", "OutpostKit", "Testing", names.library))

        /// The tests need no network: the service is in memory, and has the metadata of the real one.
        @Suite("The store of the app")
        struct \(names.store)Tests {
            @Test("Rows are downloaded and can be read without the service")
            func download() async throws {
                try await withFolder { folder, keys in
                    let service = try await Self.service()
                    let app = try await \(names.store).open(in: folder, keys: keys) { _, _ in service }
                    #expect(try await app.store.download().isComplete)
                    for set in \(names.store).sets {
                        let rows = try await app.rows(of: set, top: 10)
                        #expect(rows?.isEmpty == true, "\\(set)")
                    }
                    try app.store.close()
                }
            }

            @Test("The store opens again with the key that was made for it")
            func opensAgain() async throws {
                try await withFolder { folder, keys in
                    let service = try await Self.service()
                    let first = try await \(names.store).open(in: folder, keys: keys) { _, _ in service }
                    try await first.store.download()
                    try first.store.close()
                    let second = try await \(names.store).open(in: folder, keys: keys) { _, model in
                        #expect(model != nil)
                        return service
                    }
                    let queries = try await second.store.observe.status().queries
                    #expect(queries.filter { !$0.isLoaded }.isEmpty)
                    try second.store.close()
                }
            }
        \(creation)
            /// A service in memory.
            private static func service() async throws -> StoreService {
                try await StoreService.open(ServiceDefinition(model: \(metadataType).model), at: .memory)
            }

            /// Runs a test with a folder of its own, and with a place for the key in it.
            private func withFolder(_ body: (_ folder: String, _ keys: FileSecretStore) async throws -> Void) async throws {
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(names.package)-\\(UUID().uuidString)")
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                defer { try? FileManager.default.removeItem(at: folder) }
                let keys = try FileSecretStore(directory: folder.appendingPathComponent("keys").path)
                try await body(folder.appendingPathComponent("store").path, keys)
            }
        }

        """
    }

    /// The test that creates an entity; an empty line if there is no sample.
    private var creation: String {
        guard let sample, let member = sets.first(where: { $0.name == sample.set.name })?.member else { return "" }
        let lines = sample.values.map { "            new.\($0.member) = \($0.value)" }
        let declaration = "            \(lines.isEmpty ? "let" : "var") new = \(sample.type)()"
        return """

                @Test("An entity that is created without a network waits in the queue until it is uploaded")
                func creation() async throws {
                    try await withFolder { folder, keys in
                        let service = try await Self.service()
                        let app = try await \(names.store).open(in: folder, keys: keys) { _, _ in service }
                        try await app.store.download()
            \(([declaration] + lines).joined(separator: "\n"))
                        _ = try await app.service.\(member).create(new)
                        #expect(try await app.store.observe.status().pending.count == 1)
                        let report = try await app.store.upload()
                        #expect(report.accepted.count == 1)
                        #expect(report.failed.isEmpty)
                        #expect(try await \(serviceType)(service).\(member).count() == 1)
                        try app.store.close()
                    }
                }

            """
    }
}
