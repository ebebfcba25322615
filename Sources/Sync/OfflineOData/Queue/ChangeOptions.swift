import ODataModel
import ODataService

/// How the engine treats a local change, besides what is changed.
///
/// ```swift
/// let visits = DataService(
///     store.changes.provider(with: ChangeOptions(category: "visits", tag: "visit 12")))
/// try await visits.update(order)
/// try await store.upload(options: UploadOptions(categories: ["visits"]))
/// ```
public struct ChangeOptions: Hashable, Sendable, Codable {
    /// What an app knows the change by; it is not sent.
    public var tag: String?
    /// The category that the change can be uploaded with; `nil` for none.
    public var category: String?
    /// Header fields that are sent with the request. In their values, an entity in braces stands for the entity's
    /// URL as it is when the request is sent, so that one created here has its own key by then:
    /// `["X-Parent": "{Orders(-1)}"]`. The request waits for an entity that is created here.
    public var headers: [String: String]
    /// Requests of a higher priority are sent first, unless they depend on others. 0 unless given.
    public var priority: Int
    /// Whether the request is sent as it is: neither folded into another nor mended by a later edit. Nor does it mend
    /// one that was refused: it waits behind that until somebody mends it otherwise, retries it or gives it up.
    public var isUnmodifiable: Bool
    /// Whether an entity made by this change goes from the store once the service has it: the service will send its
    /// own, under whatever key.
    public var removesCreatedEntity: Bool
    /// How often the request is sent again within one upload when the service is busy (429, 503), after the time that
    /// the service says, else after a growing pause. What else fails on the way ends the upload as ever.
    public var retries = 0
    /// Whether an update that changes nothing is sent all the same: what touches an entity.
    public var sendsEmptyUpdate = false
    /// Whether the service is asked to answer without the entity. What it made of a change is then read with the next
    /// change or download.
    public var prefersNoContent = false
    /// Whether an action is called at the service at once, or queued and called by the next upload.
    public var operationMode: OperationMode = .queued
    /// Whether the change waits until the app submits it (``OfflineStore/Changes/submit(_:)``). Until then, no upload sends
    /// it, and later changes of the same entity are put into it.
    public var isHeld = false
    /// The change set that the change was made in.
    var changeSet: String?

    /// Makes options.
    public init(
        category: String? = nil, tag: String? = nil, headers: [String: String] = [:], priority: Int = 0,
        isUnmodifiable: Bool = false, removesCreatedEntity: Bool = false, operationMode: OperationMode = .queued,
        retries: Int = 0, sendsEmptyUpdate: Bool = false, prefersNoContent: Bool = false, isHeld: Bool = false
    ) {
        self.isHeld = isHeld
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

/// When an action that an app calls on its store is called at the service.
public enum OperationMode: String, Hashable, Sendable, Codable {
    /// By the next upload; its answer is not waited for. What it changes of the entity that it is bound to is taken in
    /// then, what else it changes comes with the next download.
    case queued
    /// At once, over the connection of the store.
    case online
}

extension ChangeOptions {
    /// Reads options as any version has written them: what an earlier one did not know has its default.
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
            isHeld: try container.decodeIfPresent(Bool.self, forKey: .isHeld) ?? false)
        changeSet = try container.decodeIfPresent(String.self, forKey: .changeSet)
    }

    /// The options of a request with its header fields, which an app would have sent online and the upload sends later; the
    /// defaults if it has none.
    init(_ request: ODataRequest) {
        self = request.context.changeOptions ?? ChangeOptions()
        headers.merge(request.headers) { options, _ in options }
    }

    /// The options of a request that a later one is put into: header fields of both, the later ones' values where they
    /// share a name; both tags; the higher priority; the later one's category where it has one.
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

    /// Says which change set a change is in, besides the options that it has.
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

/// A store whose changes are made with the same options.
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
