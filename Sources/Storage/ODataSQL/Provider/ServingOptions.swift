import ODataModel
import ODataService

/// The settings that all providers on a database have in common: those of a store, of a service with a model of its own, and of
/// a database that is served.
///
/// ```swift
/// var options = StoreService.Options()
/// options.maxPageSize = 100
/// options.isReadOnly = true
/// ```
public struct ServingOptions: Sendable {
    /// The most rows of a page; a request may ask for fewer by `maxpagesize`. `nil` for no limit but the request's own.
    public var maxPageSize: Int? = 1000
    /// The most rows of each expanded collection; `nil` for no limit.
    public var maxExpandedRows: Int?
    /// The budget of a request that brings none of its own; without limits unless set. Requests that a server answers
    /// bring the server's (``RequestBudget``).
    public var limits = RequestBudget.Limits.unlimited
    /// Whether every change is refused, the actions of a ``StoreService`` excepted.
    public var isReadOnly = false
    /// The most bytes of a property's raw value, and of other bodies that are taken whole.
    public var valueSizeLimit = 64 << 20
    /// The present time, which `now()` gives; the system's clock by default.
    public var now: @Sendable () -> ODataDateTimeOffset = { .current }

    /// Makes options with the defaults.
    public init() {}

    /// The most rows of a page where a page must have a bound.
    package var pageBound: Int { maxPageSize ?? Int(Int32.max) }
}

/// Options of a provider on a database: each of ``ServingOptions`` is one of them, by the same name.
@dynamicMemberLookup
public protocol ServingSettings: Sendable {
    /// The settings that all providers on a database have.
    var serving: ServingOptions { get set }
}

extension ServingSettings {
    /// One of the settings that all providers on a database have.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<ServingOptions, Value>) -> Value {
        get { serving[keyPath: setting] }
        set { serving[keyPath: setting] = newValue }
    }
}
