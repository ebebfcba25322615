import ODataModel
import ODataService

/// The treatment of a local change by the engine, apart from its content.
///
/// ```swift
/// let visits = DataService(
///     store.changes.provider(with: ChangeOptions(category: "visits", tag: "visit 12")))
/// try await visits.update(order)
/// try await store.upload(options: UploadOptions(categories: ["visits"]))
/// ```
public struct ChangeOptions: Hashable, Sendable, Codable {
    /// A name by which the app recognises the change. It is not sent.
    public var tag: String?
    /// The category for uploads that send only some changes; `nil` for none.
    public var category: String?
    /// Header fields for the request. An entity in braces in their values is replaced with its URL at the time of
    /// sending, so that a created entity has its final key by then: `["X-Parent": "{Orders(-1)}"]`. The request
    /// waits for the creation of such an entity.
    public var headers: [String: String]
    /// The priority. Requests of a higher priority are sent first, unless they depend on others. The default is
    /// 0.
    public var priority: Int
    /// Whether the request is sent unchanged. It is neither folded into another request nor mended by a later
    /// edit, and does not mend a refused request itself. It waits behind a refused request until that is mended
    /// otherwise, retried or discarded.
    public var isUnmodifiable: Bool
    /// Whether a created entity is removed from the store once the service has it. A download then brings it
    /// under the key that the service assigned.
    public var removesCreatedEntity: Bool
    /// The number of repeats within one upload if the service is busy (429, 503). The pause is the one that the
    /// service asks for, else it grows with each repeat. Other transport failures end the upload.
    public var retries = 0
    /// Whether an update without changed values is sent, to touch the entity.
    public var sendsEmptyUpdate = false
    /// Whether the service is asked to respond without the entity. The server version is then read with the next
    /// change or download.
    public var prefersNoContent = false
    /// Whether an action is called at the service at once, or queued and called by the next upload.
    public var operationMode: OperationMode = .queued
    /// Whether the change waits until the app submits it (``OfflineStore/Changes/submit(_:)``). Until then, no upload
    /// sends it, and later changes of the same entity are put into it.
    public var isHeld = false
    /// The action that the service is asked for instead of the creation, update or deletion; `nil` for none. It counts
    /// for changes of single entities alone.
    public var action: ChangeAction?
    /// The change set that the change was made in.
    var changeSet: String?

    /// Creates options.
    public init(
        category: String? = nil, tag: String? = nil, headers: [String: String] = [:], priority: Int = 0,
        isUnmodifiable: Bool = false, removesCreatedEntity: Bool = false, operationMode: OperationMode = .queued,
        retries: Int = 0, sendsEmptyUpdate: Bool = false, prefersNoContent: Bool = false, isHeld: Bool = false,
        action: ChangeAction? = nil
    ) {
        self.isHeld = isHeld
        self.action = action
        self.sendsEmptyUpdate = sendsEmptyUpdate
        self.prefersNoContent = prefersNoContent
        self.retries = retries
        self.operationMode = operationMode
        self.tag = tag
        self.category = category
        self.headers = headers
        self.priority = priority
        self.isUnmodifiable = isUnmodifiable
        self.removesCreatedEntity = removesCreatedEntity
    }
}

/// The time at which an action is called at the service.
///
/// ```swift
/// let atOnce = DataService(store.changes.provider(with: ChangeOptions(operationMode: .online)))
/// ```
public enum OperationMode: String, Hashable, Sendable, Codable {
    /// With the next upload. The app does not wait for the result. Changes of the bound entity are stored with
    /// the upload; other effects arrive with the next download.
    case queued
    /// At once, over the connection of the store.
    case online
}

extension ChangeOptions {
    /// Decodes options of any version. Members that are missing have their defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            category: try container.decodeIfPresent(String.self, forKey: .category),
            tag: try container.decodeIfPresent(String.self, forKey: .tag),
            headers: try container.decodeIfPresent([String: String].self, forKey: .headers) ?? [:],
            priority: try container.decodeIfPresent(Int.self, forKey: .priority) ?? 0,
            isUnmodifiable: try container.decodeIfPresent(Bool.self, forKey: .isUnmodifiable) ?? false,
            removesCreatedEntity: try container.decodeIfPresent(Bool.self, forKey: .removesCreatedEntity) ?? false,
            operationMode: try container.decodeIfPresent(OperationMode.self, forKey: .operationMode) ?? .queued,
            retries: try container.decodeIfPresent(Int.self, forKey: .retries) ?? 0,
            sendsEmptyUpdate: try container.decodeIfPresent(Bool.self, forKey: .sendsEmptyUpdate) ?? false,
            prefersNoContent: try container.decodeIfPresent(Bool.self, forKey: .prefersNoContent) ?? false,
            isHeld: try container.decodeIfPresent(Bool.self, forKey: .isHeld) ?? false,
            action: try container.decodeIfPresent(ChangeAction.self, forKey: .action))
        changeSet = try container.decodeIfPresent(String.self, forKey: .changeSet)
    }

    /// The options in the header fields of a request, which an app would have sent online; the defaults if there
    /// are none.
    init(_ request: ODataRequest) {
        self = request.context.changeOptions ?? ChangeOptions()
        headers.merge(request.headers) { options, _ in options }
    }

    /// Returns the options of a request that is joined with a later one. They have the header fields of both,
    /// with the later value for the same name, both tags, and the higher priority. The later category counts if
    /// there is one.
    func joined(with later: ChangeOptions) -> ChangeOptions {
        var options = self
        options.headers.merge(later.headers) { $1 }
        let tags = [tag, later.tag].compactMap { $0 }
        options.tag = tags.isEmpty ? nil : tags.joined(separator: "#")
        options.priority = max(priority, later.priority)
        options.category = later.category ?? category
        options.isHeld = later.isHeld
        return options
    }

    /// Adds the change set of a change to the options that the request has.
    static func setChangeSet(_ changeSet: String?, of request: inout ODataRequest) {
        var options = request.context.changeOptions ?? ChangeOptions()
        options.changeSet = changeSet
        request.context.changeOptions = options
    }
}

extension ChangeOptions: RequestContextValue {}

extension RequestContext {
    /// The options of a change to an offline store; `nil` for the defaults.
    public var changeOptions: ChangeOptions? {
        get { self[ChangeOptions.self] }
        set { self[ChangeOptions.self] = newValue }
    }
}

/// A store that queues changes with the same options.
struct ChangingProvider: ProviderWrapper {
    let base: any ODataProvider
    let options: ChangeOptions

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        if case .batch(var items) = request.body {
            for index in items.indices where items[index].request.method != .read {
                items[index].request.context.changeOptions = options
            }
            request.body = .batch(items)
        } else if request.method != .read {
            request.context.changeOptions = options
        }
        return try await base.execute(request)
    }
}
