import ODataModel
import ODataQuery
import ODataSQL

/// The links that downloads follow and keep, and what stands in their place where the app states that the service gives
/// none, or none to rely on (``StatedCapabilities``).
extension Downloader {
    // MARK: What changed

    /// Whether the service is asked for links to what changes: those of single pages would tell of them alone.
    var tracksChanges: Bool { service.supportsDelta && service.supportsNext }

    /// The link to what has changed of a query, where it is followed: not one that is older than the metadata say that such
    /// links hold (`sap:delta-link-validity`).
    func deltaLink(of query: StoredQuery) -> String? {
        guard tracksChanges, let link = query.deltaLink else { return nil }
        guard let validity = mapping.model.entitySet(query.entitySet)?.deltaLinkValidity else { return link }
        guard let given = query.lastDownload.flatMap(ODataDateTimeOffset.init) else { return link }
        return environment.instant.seconds - given.seconds < validity ? link : nil
    }

    /// A link to what changes from now on, where it may be kept and will be followed.
    func kept(_ deltaLink: String?, of query: StoredQuery) -> String? {
        query.keepsLinks && tracksChanges ? deltaLink : nil
    }

    // MARK: Pages

    /// Whether the pages of a query are asked for by how many rows stand before them.
    func countsRows(of query: StoredQuery) -> Bool {
        !service.supportsNext && mapping.model.singleton(query.entitySet) == nil
    }

    /// The most rows of a set asked for in one page: not more than the metadata say that there are (`sap:maxpagesize`).
    func pageSize(of set: String) -> Int {
        min(max(pageSize, 1), mapping.model.entitySet(set)?.maxPageSize ?? .max)
    }

    /// Bounds a request to one page.
    ///
    /// - Parameters:
    ///   - set: whose rows are asked for.
    ///   - link: what led to the page.
    func limit(_ options: inout QueryOptions, of set: String, behind link: String?) {
        let rows = link.flatMap(PageOffset.init(link:))?.rows ?? 0
        options.top = min(pageSize(of: set), max((options.top ?? .max) - rows, 0))
        options.skip = rows > 0 ? rows : nil
    }

    /// Where a full read goes on: where the service says, else behind what has come. Since a service may give less than it
    /// was asked for, only a page without rows is the last one then.
    ///
    /// - Parameters:
    ///   - given: the link that the page has.
    ///   - link: what led to the page.
    ///   - received: how many rows it has.
    func nextLink(_ given: String?, behind link: String?, received: Int, of query: StoredQuery) -> String? {
        guard countsRows(of: query) else { return given }
        let rows = (link.flatMap(PageOffset.init(link:))?.rows ?? 0) + received
        let wanted = (try? ODataURL(parsing: query.text))?.options.top ?? .max
        return received > 0 && rows < wanted ? PageOffset(rows: rows).link : nil
    }
}

/// Where a page begins: behind so many rows. It stands where a link would, so that a first download is taken up again there.
private struct PageOffset {
    private static let prefix = "$skip="

    let rows: Int

    init(rows: Int) { self.rows = rows }

    /// - Returns: `nil` for a link that a service gave.
    init?(link: String) {
        guard link.hasPrefix(Self.prefix), let rows = Int(link.dropFirst(Self.prefix.count)) else { return nil }
        self.rows = rows
    }

    var link: String { "\(Self.prefix)\(rows)" }
}
