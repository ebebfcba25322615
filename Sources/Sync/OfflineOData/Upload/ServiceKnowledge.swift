import Foundation
import GRDB
import ODataModel
import ODataService

/// What is known of the service beyond its model, kept with the store.
enum ServiceKnowledge {
    private static let repeatabilityKey = "service.repeatability"

    /// Whether the service recognises a repeated request: `true` once a response on this way to it has confirmed that, `nil`
    /// when none has. A promise of its metadata is none: a proxy may take the fields out on the way (rule 39).
    static func isRepeatable(model: EntityDataModel, in database: Database) throws -> Bool? {
        if let known = try Settings.text(repeatabilityKey, in: database), !known.isEmpty { return known == "yes" }
        let term = "Org.OData.Repeatability.V1.Supported"
        // The term's default value is true.
        let isDenied = model.container.annotations.annotation(term).map { $0.value?.boolean == false } ?? false
        return isDenied ? false : nil
    }

    /// Learns from the responses to requests that were made: whether the service recognises repeats.
    ///
    /// - Parameter wereIdentified: whether the requests had an identification, of which each response says something then.
    static func learnRepeatability(
        _ results: [RepeatabilityResult?], wereIdentified: Bool, in database: Database
    ) throws {
        if results.contains(.accepted) { return try setRepeatable(true, in: database) }
        guard wereIdentified, try Settings.text(repeatabilityKey, in: database) == "yes" else { return }
        // Something on the way takes the fields out.
        try Settings.set(repeatabilityKey, "", in: database)
    }

    static func setRepeatable(_ isRepeatable: Bool, in database: Database) throws {
        try Settings.set(repeatabilityKey, isRepeatable ? "yes" : "no", in: database)
    }

    private static let batchKey = "service.batch"

    /// Whether the service takes several requests in one: what was stated, else what its metadata says, else what the
    /// protocol asks of every service.
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

    /// Whether the service takes several requests as one that succeed or fail together: what it was found or stated to do,
    /// else whether it has batches.
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

    /// Whether the service takes references to what the same change set creates in the bodies of its requests
    /// (`@odata.bind` to a content id): what it was found to do, else what its metadata says; `nil` when nothing says so
    /// yet.
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

    /// The entity sets that take whole entities only, and no changes of single properties (PATCH, or MERGE of V2).
    struct WholeEntities: Sendable {
        /// Whether that was stated of all, or was found out by an earlier version, which did not tell sets apart.
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

    /// Keeps that some entity sets have taken whole entities after they had refused changes of single properties.
    static func addWholeEntities(of sets: Set<String>, in database: Database) throws {
        guard !sets.isEmpty else { return }
        let known = try wholeSets(in: database).union(sets)
        try Settings.set(wholeSetsKey, known.sorted().joined(separator: "\n"), in: database)
    }

    /// Keeps whether changes of single properties are taken, of all sets.
    static func setPatch(_ hasPatch: Bool, in database: Database) throws {
        try Settings.set(patchKey, hasPatch ? "yes" : "no", in: database)
        if hasPatch { try Settings.set(wholeSetsKey, "", in: database) }
    }

    /// Keeps what an app states of its service.
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

/// What an app states of its service, where that is not in the metadata and need not be found out.
///
/// Without it, the engine asks and goes by the answers. What a service refuses, it is then asked for otherwise; what it does
/// wrongly or slowly can only be stated.
///
/// ```swift
/// var options = OfflineStore.Options()
/// options.service.capabilities.supportsBatch = false
/// options.service.capabilities.supportsRepeatableRequests = true
/// ```
public struct StatedCapabilities: Hashable, Sendable {
    // MARK: Changes

    /// Whether it takes batches; `nil` to find out. `true` says that of change sets too, unless
    /// ``supportsChangeSets`` says otherwise.
    public var supportsBatch: Bool?
    /// Whether it takes change sets in its batches: else their requests are sent one after the other. `nil` to find out.
    public var supportsChangeSets: Bool?
    /// Whether it takes references to other entities in the body of a change (`@odata.bind`), also to what the same change
    /// set creates; else such a change set is sent one request after the other, each with the keys that the service gave
    /// before. `nil` to find out.
    public var supportsBind: Bool?
    /// Whether it takes changes of single properties; else the entity is read and put as a whole. `nil` to find out, of each
    /// entity set by itself.
    public var supportsPatch: Bool?
    /// Whether it recognises a request that is sent again (OData Repeatable Requests 1.0); `nil` to find out.
    public var supportsRepeatableRequests: Bool?

    // MARK: Reads

    /// Whether its links to what changed are to be relied on. Where not, none is asked for or followed: each download reads
    /// everything, compares, and writes what differs.
    public var supportsDelta = true
    /// Whether it gives links to the next pages. Where not, pages are asked for by `$skip` and `$top`, of
    /// ``OfflineStore/SyncOptions/downloadPageSize`` rows, until one is empty; links to what changed, which would be of
    /// one page, are not asked for.
    public var supportsNext = true
    /// Whether `$orderby` goes well with its pages. Where not, reads leave the order to it.
    public var supportsOrderBy = true
    /// Whether it counts (`/$count`). Where not, ``SyncProgress/total`` is not known while a query is downloaded for the
    /// first time.
    public var supportsCount = true
    /// Whether it filters by keys. Where not, the rows that a full read did not bring are asked for one by one before they
    /// are deleted.
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
