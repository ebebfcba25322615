import Foundation
import GRDB
import ODataModel
import ODataService

/// Facts about the service that are not in its model, kept with the store.
enum ServiceKnowledge {
    private static let repeatabilityKey = "service.repeatability"

    /// Whether the service recognises a repeated request: `true` once a response has confirmed it on this way to
    /// the service, `nil` if none has. A promise in the metadata does not count, since a proxy may remove the
    /// header fields (rule 39).
    static func isRepeatable(model: EntityDataModel, in database: Database) throws -> Bool? {
        if let known = try Settings.text(repeatabilityKey, in: database), !known.isEmpty { return known == "yes" }
        let term = "Org.OData.Repeatability.V1.Supported"
        // The term's default value is true.
        let isDenied = model.container.annotations.annotation(term).map { $0.value?.boolean == false } ?? false
        return isDenied ? false : nil
    }

    /// Learns from responses whether the service recognises repeats.
    ///
    /// - Parameter wereIdentified: whether the requests carried an identification, which each response then
    ///   confirms or does not.
    static func learnRepeatability(
        _ results: [RepeatabilityResult?], wereIdentified: Bool, in database: Database
    ) throws {
        if results.contains(.accepted) { return try setRepeatable(true, in: database) }
        guard wereIdentified, try Settings.text(repeatabilityKey, in: database) == "yes" else { return }
        // A proxy removes the header fields.
        try Settings.set(repeatabilityKey, "", in: database)
    }

    static func setRepeatable(_ isRepeatable: Bool, in database: Database) throws {
        try Settings.set(repeatabilityKey, isRepeatable ? "yes" : "no", in: database)
    }

    private static let batchKey = "service.batch"

    /// Whether the service accepts batches: as stated by the app, else as in the metadata, else as the protocol
    /// requires of every service.
    static func hasBatch(model: EntityDataModel, in database: Database) throws -> Bool {
        if let known = try Settings.text(batchKey, in: database) { return known == "yes" }
        let terms = "Org.OData.Capabilities.V1."
        let annotations = model.container.annotations
        if let batch = annotations.annotation(terms + "BatchSupport")?.value?.recordProperty("Supported")?.boolean {
            return batch
        }
        guard let flag = annotations.annotation(terms + "BatchSupported") else { return true }
        return flag.value?.boolean ?? true
    }

    static func setBatch(_ hasBatch: Bool, in database: Database) throws {
        try Settings.set(batchKey, hasBatch ? "yes" : "no", in: database)
    }

    private static let changeSetsKey = "service.changeSets"

    /// Whether the service accepts change sets that succeed or fail as a whole: as observed or stated, else the
    /// same as for batches.
    static func hasChangeSets(model: EntityDataModel, in database: Database) throws -> Bool {
        if let known = try Settings.text(changeSetsKey, in: database) { return known == "yes" }
        return try hasBatch(model: model, in: database)
    }

    static func setChangeSets(_ hasChangeSets: Bool, in database: Database) throws {
        try Settings.set(changeSetsKey, hasChangeSets ? "yes" : "no", in: database)
    }
}

extension ServiceKnowledge {
    private static let bindKey = "service.bind"

    /// Whether request bodies may refer to entities created in the same change set (`@odata.bind` to a content
    /// id): as observed, else as in the metadata; `nil` if not known yet.
    static func hasBind(model: EntityDataModel, in database: Database) throws -> Bool? {
        if let known = try Settings.text(bindKey, in: database) { return known == "yes" }
        let batch = model.container.annotations.annotation("Org.OData.Capabilities.V1.BatchSupport")
        return batch?.value?.recordProperty("ReferencesInRequestBodiesSupported")?.boolean
    }

    static func setBind(_ hasBind: Bool, in database: Database) throws {
        try Settings.set(bindKey, hasBind ? "yes" : "no", in: database)
    }
}

extension ServiceKnowledge {
    private static let patchKey = "service.patch"
    private static let wholeSetsKey = "service.patch.refusedBySets"

    /// The entity sets that accept whole entities only, and no changes of single properties (PATCH, or MERGE of
    /// V2).
    struct WholeEntities: Sendable {
        /// Whether all sets need whole entities: stated by the app, or observed by an earlier version that did
        /// not distinguish sets.
        fileprivate let isOfAll: Bool
        fileprivate let sets: Set<String>

        func contains(_ set: String) -> Bool { isOfAll || sets.contains(set) }
    }

    static func wholeEntities(in database: Database) throws -> WholeEntities {
        WholeEntities(
            isOfAll: try Settings.text(patchKey, in: database) == "no", sets: try wholeSets(in: database))
    }

    private static func wholeSets(in database: Database) throws -> Set<String> {
        Set(try Settings.text(wholeSetsKey, in: database)?.split(separator: "\n").map(String.init) ?? [])
    }

    /// Remembers that some entity sets accepted whole entities after they had refused changes of single
    /// properties.
    static func addWholeEntities(of sets: Set<String>, in database: Database) throws {
        guard !sets.isEmpty else { return }
        let known = try wholeSets(in: database).union(sets)
        try Settings.set(wholeSetsKey, known.sorted().joined(separator: "\n"), in: database)
    }

    /// Remembers for all sets whether changes of single properties are accepted.
    static func setPatch(_ hasPatch: Bool, in database: Database) throws {
        try Settings.set(patchKey, hasPatch ? "yes" : "no", in: database)
        if hasPatch { try Settings.set(wholeSetsKey, "", in: database) }
    }

    /// Remembers the capabilities that an app states for its service.
    static func state(_ stated: StatedCapabilities, in database: Database) throws {
        if let batch = stated.supportsBatch { try setBatch(batch, in: database) }
        let changeSets: Bool? =
            stated.supportsBatch == false ? false : stated.supportsChangeSets ?? stated.supportsBatch
        if let changeSets { try setChangeSets(changeSets, in: database) }
        if let bind = stated.supportsBind { try setBind(bind, in: database) }
        if let patch = stated.supportsPatch { try setPatch(patch, in: database) }
        if let repeatable = stated.supportsRepeatableRequests { try setRepeatable(repeatable, in: database) }
    }
}

/// Capabilities of a service that are stated by the app, because the metadata do not name them or to save the
/// requests that find them out.
///
/// Without a statement, the engine tries a form and learns from the response. If the service refuses it, the
/// engine uses another form from then on. Wrong or slow results cannot be learned and must be stated.
///
/// ```swift
/// var options = OfflineStore.Options()
/// options.service.capabilities.supportsBatch = false
/// options.service.capabilities.supportsRepeatableRequests = true
/// ```
public struct StatedCapabilities: Hashable, Sendable {
    // MARK: Changes

    /// Whether the service accepts batches; `nil` to find out. `true` includes change sets, unless
    /// ``supportsChangeSets`` says otherwise.
    public var supportsBatch: Bool?
    /// Whether the service accepts change sets in its batches. If not, their requests are sent one after the
    /// other. `nil` to find out.
    public var supportsChangeSets: Bool?
    /// Whether a change may refer to other entities in its body (`@odata.bind`), including entities created in
    /// the same change set. If not, such a change set is sent one request at a time, with the keys that the
    /// service assigned before. `nil` to find out.
    public var supportsBind: Bool?
    /// Whether the service accepts changes of single properties. If not, the entity is read and replaced as a
    /// whole. `nil` to find out for each entity set.
    public var supportsPatch: Bool?
    /// Whether the service recognises a repeated request (OData Repeatable Requests 1.0); `nil` to find out.
    public var supportsRepeatableRequests: Bool?

    // MARK: Reads

    /// Whether delta links can be relied on. If not, the store neither requests nor follows them: each download
    /// reads all rows, compares them, and writes the differences.
    public var supportsDelta = true
    /// Whether the service returns next links. If not, pages are requested by `$skip` and `$top`, with
    /// ``OfflineStore/SyncOptions/downloadPageSize`` rows, until a page is empty. Delta links are not requested
    /// then, since they would cover only one page.
    public var supportsNext = true
    /// Whether `$orderby` works together with paging. If not, the service chooses the order of a read.
    public var supportsOrderBy = true
    /// Whether the service counts (`/$count`). If not, ``SyncProgress/total`` is not known during a first
    /// download.
    public var supportsCount = true
    /// Whether the service filters by keys. If not, rows that are missing from a full read are requested one by
    /// one before they are deleted.
    public var supportsFilterByKey = true

    /// States nothing.
    public init() {}
}

/// Named values kept with the store.
enum Settings {
    static func text(_ name: String, in database: Database) throws -> String? {
        try bytes(name, in: database).map { String(decoding: $0, as: UTF8.self) }
    }

    static func bytes(_ name: String, in database: Database) throws -> [UInt8]? {
        try Row.fetchOne(database, sql: "SELECT value FROM outpost_setting WHERE name = ?", arguments: [name])
            .map { row in try row.withUnsafeData(atIndex: 0) { Array($0 ?? .init()) } }
    }

    static func remove(_ name: String, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_setting WHERE name = ?", arguments: [name])
    }

    static func set(_ name: String, _ text: String, in database: Database) throws {
        try set(name, Array(text.utf8), in: database)
    }

    static func set(_ name: String, _ bytes: [UInt8], in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO outpost_setting(name, value) VALUES (?, ?) "
                + "ON CONFLICT DO UPDATE SET value = excluded.value",
            arguments: [name, Data(bytes)])
    }
}
