import ODataModel
import ODataQuery
import Synchronization

/// A URL with the meaning that its names have in one model.
///
/// A request carries it, so that the provider does not resolve the URL again. It is good for this very model object: a provider with
/// another model, even an equal one, resolves the URL anew.
///
/// One object serves all requests with the same URL, since its contents take longer to copy than to find.
public final class ResolvedURL: Sendable {
    /// The URL as it was read. If it referred to another request of a batch, it starts with that request's path.
    public let url: ODataURL
    /// The resource and the query that the URL stands for.
    public let bound: BoundURL
    /// The model that the URL was resolved against.
    public let model: EntityDataModel
    /// Whether the URL is the entity of an id (`$entity?$id=…`), which leads elsewhere if the service is seen under another
    /// root.
    package let isByID: Bool
    private let kept = Mutex<(any AnyObject & Sendable)?>(nil)

    /// Makes a resolved URL.
    ///
    /// - Parameters:
    ///   - url: the URL as it was read.
    ///   - bound: the resource and the query that it stands for.
    ///   - model: the model that it was resolved against.
    public convenience init(url: ODataURL, bound: BoundURL, model: EntityDataModel) {
        self.init(url: url, bound: bound, model: model, isByID: false)
    }

    package init(url: ODataURL, bound: BoundURL, model: EntityDataModel, isByID: Bool) {
        self.url = url
        self.bound = bound
        self.model = model
        self.isByID = isByID
    }

    /// The object that a provider has made of this URL, kept here so that it is found without a search: one, that of the
    /// provider that was asked last.
    package var made: (any AnyObject & Sendable)? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
