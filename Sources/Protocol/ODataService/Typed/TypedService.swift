import ODataModel
import ODataQuery

/// A service's sets, singletons and operations as Swift properties and methods; generated code conforms to it.
///
/// ```swift
/// let northwind = NorthwindService(provider)      // online, a local store, or offline
/// ```
public protocol TypedService: Sendable {
    /// Who answers.
    var odataService: DataService { get }
    /// Makes the service over whatever answers requests.
    init(odataService: DataService)
}

extension TypedService {
    /// Makes the service over a provider.
    public init(_ provider: any ODataProvider) { self.init(odataService: DataService(provider)) }

    /// Makes the service over what an app reads and writes with already.
    public init(_ service: DataService) { self.init(odataService: service) }
}
