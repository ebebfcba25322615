import ODataModel
import ODataService

/// The common settings of all providers on a database: of a store, of a service with its own model, and of an
/// existing database.
///
/// ```swift
/// var options = StoreService.Options()
/// options.maxPageSize = 100
/// options.isReadOnly = true
/// ```
public struct ServingOptions: Sendable {
    /// The maximum number of rows on a page; requests can specify fewer with `maxpagesize`. `nil` means no limit
    /// except that of the request.
    public var maxPageSize: Int? = 1000
    /// The maximum number of rows of each expanded collection; `nil` means no limit.
    public var maxExpandedRows: Int?
    /// The budget of a request without its own budget; unlimited by default. Requests to a server have the budget
    /// of the server (``RequestBudget``).
    public var limits = RequestBudget.Limits.unlimited
    /// Whether all changes are refused, except actions of a ``StoreService``.
    public var isReadOnly = false
    /// The maximum number of bytes of a property's raw value and of other bodies that are read as a whole.
    public var valueSizeLimit = 64 << 20
    /// Returns the current time for `now()`; by default, the time of the system's clock.
    public var now: @Sendable () -> ODataDateTimeOffset = { .current }

    /// Creates options with the default values.
    public init() {}

    /// The maximum number of rows on a page, for code that needs a limit.
    package var pageBound: Int { maxPageSize ?? Int(Int32.max) }
}

/// The options of a provider on a database, which include the properties of ``ServingOptions`` under the same
/// names.
@dynamicMemberLookup
public protocol ServingSettings: Sendable {
    /// The common settings of all providers on a database.
    var serving: ServingOptions { get set }
}

extension ServingSettings {
    /// Accesses one of the common settings.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<ServingOptions, Value>) -> Value {
        get { serving[keyPath: setting] }
        set { serving[keyPath: setting] = newValue }
    }
}
