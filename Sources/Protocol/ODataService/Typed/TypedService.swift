import ODataModel
import ODataQuery

/// The sets, singletons and operations of a service as Swift properties and methods, implemented by generated code.
///
/// ```swift
/// let online = NorthwindService(client)
/// let offline = NorthwindService(store)
/// ```
public protocol TypedService: Sendable {
    /// The service that sends the requests.
    var odataService: DataService { get }
    /// Creates the service over a data service.
    init(odataService: DataService)
}

extension TypedService {
    /// Creates the service over a provider.
    public init(_ provider: any ODataProvider) { self.init(odataService: DataService(provider)) }

    /// Creates the service over a data service.
    public init(_ service: DataService) { self.init(odataService: service) }
}
