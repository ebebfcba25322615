import ODataModel
import ODataQuery
import Synchronization

/// A URL resolved against one model.
///
/// A request carries it, so that the provider does not resolve the URL again. It is valid only for the same model
/// object: a provider with another model, even an equal one, resolves the URL anew.
///
/// One object serves all requests with the same URL, since copying its contents would take longer than finding it.
public final class ResolvedURL: Sendable {
    /// The parsed URL. A reference to another request of a batch is replaced by the path of that request.
    public let url: ODataURL
    /// The resource and the query of the URL.
    public let bound: BoundURL
    /// The model against which the URL was resolved.
    public let model: EntityDataModel
    /// Whether the URL addresses an entity by its id (`$entity?$id=…`). Its meaning then depends on the service
    /// root.
    package let isByID: Bool
    private let kept = Mutex<(any AnyObject & Sendable)?>(nil)

    /// Creates a resolved URL.
    ///
    /// - Parameters:
    ///   - url: the parsed URL.
    ///   - bound: the resource and the query of the URL.
    ///   - model: the model against which the URL was resolved.
    public convenience init(url: ODataURL, bound: BoundURL, model: EntityDataModel) {
        self.init(url: url, bound: bound, model: model, isByID: false)
    }

    package init(url: ODataURL, bound: BoundURL, model: EntityDataModel, isByID: Bool) {
        self.url = url
        self.bound = bound
        self.model = model
        self.isByID = isByID
    }

    /// An object that a provider has derived from the URL, such as a prepared plan. Only the object of the last
    /// provider is kept.
    package var made: (any AnyObject & Sendable)? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
