import Foundation
import ODataDatabases
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore
import OfflineOData
import ToolLanguage

/// The data that `outpost serve` serves.
struct ServedSource {
    var provider: any ODataProvider
    var warnings: [String] = []
    /// Whether the source is a clone, which has encrypted rows.
    var isClone = false
    /// Reads something, so that a failure shows that requests would fail.
    var check: @Sendable () async throws -> Void
    var close: () async throws -> Void
}

extension Serve {
    /// Opens the data.
    ///
    /// - Parameter rights: the rights of callers; `nil` if all callers have full access.
    func source(_ rights: CurrentRights?) async throws -> ServedSource {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw Failure(message: "\(path) does not exist.", advice: "Give a SQLite database or a clone's directory.")
        }
        if isDirectory.boolValue {
            try refuseRows()
            try refuseDatabaseOptions()
            guard rights == nil else {
                throw Failure(
                    message: "--rights goes with a database or a metadata document.",
                    advice: "A clone belongs to one user: serve it to that user alone.", status: .misused)
            }
            var options = OfflineStore.Options()
            options.runtime.localPageSize = pageSize == 0 ? nil : pageSize
            let (directory, chosen, protection) = (path, options, try key.protection(ofCloneIn: path))
            let store = try await ReopeningProvider {
                try await OfflineStore.open(at: directory, protection: protection, options: chosen)
            }
            let kept = KeptFile(path: path + "/store.db")
            return ServedSource(
                provider: readOnly ? ReadOnlyProvider(base: store) : store, isClone: true,
                check: {
                    try kept.check()
                    _ = try await store.model
                },
                close: { try store.close() })
        }
        try refuseCloneOptions()
        if let text = Self.metadata(in: path) {
            try refuseDatabaseOptions()
            return try await model(text, rights)
        }
        try refuseRows()
        var options = ServedDatabase.Options()
        options.isReadOnly = readOnly
        options.installsTriggers = track
        options.maxPageSize = pageSize == 0 ? nil : pageSize
        options.authorization = rights?.rule
        for key in keys {
            guard let mark = key.lastIndex(of: "="), mark != key.startIndex, key.index(after: mark) != key.endIndex
            else {
                throw Failure(message: "--key is VIEW=COLUMN, not '\(key)'.", status: .misused)
            }
            options.viewKeys[String(key[..<mark])] =
                key[key.index(after: mark)...].split(separator: ",").map(String.init)
        }
        let database = try await ServedDatabase.open(path: path, options: options)
        return ServedSource(
            provider: database, warnings: database.warnings,
            check: {
                try await database.checkHealth()
                try await Self.readRow(of: database)
            },
            close: { try await database.close() })
    }

    /// Reads a row of the first entity set.
    private static func readRow(of provider: any ODataProvider) async throws {
        guard let set = try await provider.model.container.entitySets.first?.name else { return }
        var options = QueryOptions()
        options.top = 1
        _ = try await provider.execute(ODataRequest(.read, ODataURL(set: set, options: options)))
    }

    /// Refuses an option for metadata documents.
    private func refuseRows() throws {
        guard rows == nil else { throw Failure(message: "--rows goes with a metadata document.", status: .misused) }
    }

    /// Refuses an option for clones.
    private func refuseCloneOptions() throws {
        guard !door.open else { throw Failure(message: "--open goes with a clone.", status: .misused) }
        guard !door.printToken else { throw Failure(message: "--print-token goes with a clone.", status: .misused) }
    }

    /// Refuses an option for databases.
    private func refuseDatabaseOptions() throws {
        guard keys.isEmpty else { throw Failure(message: "--key goes with a database.", status: .misused) }
        guard !track else { throw Failure(message: "--track goes with a database.", status: .misused) }
    }

    /// Returns the content of a file of XML or JSON; `nil` for another file.
    ///
    /// Only the beginning of another file is read, because a database may be larger than the memory. A pipe is read
    /// once.
    private static func metadata(in path: String) -> Data? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let start = try? file.read(upToCount: 64), isMetadata(start) else { return nil }
        return start + ((try? file.readToEnd()) ?? Data())
    }

    /// Whether a file is XML or JSON: no SQLite database begins so.
    private static func isMetadata(_ start: Data) -> Bool {
        let text = start.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
        return text.first == UInt8(ascii: "<") || text.first == UInt8(ascii: "{")
    }

    /// A service in memory on a model, with the rows of a file.
    private func model(_ text: Data, _ rights: CurrentRights?) async throws -> ServedSource {
        let model: EntityDataModel
        do {
            model = try CSDLReader.read(Array(text))
        } catch {
            throw Failure(message: "\(path): \(error)")
        }
        var options = StoreService.Options()
        options.isReadOnly = readOnly
        options.maxPageSize = pageSize == 0 ? nil : pageSize
        var definition = ServiceDefinition(model: model)
        definition.authorization = rights?.rule
        let service = try await StoreService.open(definition, at: .memory, options: options)
        if let rows {
            let data = try NamedFile.contents(of: rows)
            do {
                try await service.seed(json: data)
            } catch {
                throw Failure(message: "\(rows): \(error)")
            }
        }
        return ServedSource(
            provider: service,
            // Nobody is signed in to a check, so that rights would refuse it.
            check: { if rights == nil { try await Self.readRow(of: service) } }, close: { try await service.close() })
    }
}
