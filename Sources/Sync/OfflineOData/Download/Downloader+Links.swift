import ODataModel
import ODataQuery
import ODataSQL

/// The links that downloads follow and store, and their replacement if the app states that the service has no
/// links or unreliable ones (``StatedCapabilities``).
extension Downloader {
    // MARK: What changed

    /// Whether the service is asked for delta links. A delta link of a single page would cover that page alone.
    var tracksChanges: Bool { service.supportsDelta && service.supportsNext }

    /// The delta link of a query, if it is followed. A link older than the validity in the metadata is not
    /// (`sap:delta-link-validity`).
    func deltaLink(of query: StoredQuery) -> String? {
        guard tracksChanges, let link = query.deltaLink else { return nil }
        guard let validity = mapping.model.entitySet(query.entitySet)?.deltaLinkValidity else { return link }
        guard let given = query.lastDownload.flatMap(ODataDateTimeOffset.init) else { return link }
        return environment.instant.seconds - given.seconds < validity ? link : nil
    }

    /// Returns a delta link if it may be stored and will be followed.
    func kept(_ deltaLink: String?, of query: StoredQuery) -> String? {
        query.keepsLinks && tracksChanges ? deltaLink : nil
    }

    // MARK: Pages

    /// Whether the pages of a query are requested by the number of rows before them.
    func countsRows(of query: StoredQuery) -> Bool {
        !service.supportsNext && mapping.model.singleton(query.entitySet) == nil
    }

    /// The most rows of a set in one page: not more than the metadata allow (`sap:maxpagesize`).
    func pageSize(of set: String) -> Int {
        min(max(pageSize, 1), mapping.model.entitySet(set)?.maxPageSize ?? .max)
    }

    /// Bounds a request to one page.
    ///
    /// - Parameters:
    ///   - set: the entity set.
    ///   - link: the link that led to the page.
    func limit(_ options: inout QueryOptions, of set: String, behind link: String?) {
        let rows = link.flatMap(PageOffset.init(link:))?.rows ?? 0
        options.top = min(pageSize(of: set), max((options.top ?? .max) - rows, 0))
        options.skip = rows > 0 ? rows : nil
    }

    /// The link at which a full read continues: the one of the service, else one behind the received rows. A
    /// service may return fewer rows than requested, so only a page without rows counts as the last one.
    ///
    /// - Parameters:
    ///   - given: the next link of the page.
    ///   - link: the link that led to the page.
    ///   - received: the number of its rows.
    func nextLink(_ given: String?, behind link: String?, received: Int, of query: StoredQuery) -> String? {
        guard countsRows(of: query) else { return given }
        let rows = (link.flatMap(PageOffset.init(link:))?.rows ?? 0) + received
        let wanted = (try? ODataURL(parsing: query.text))?.options.top ?? .max
        return received > 0 && rows < wanted ? PageOffset(rows: rows).link : nil
    }
}

/// The number of rows before a page. It is stored in the place of a link, so that a first download resumes there.
private struct PageOffset {
    private static let prefix = "$skip="

    let rows: Int

    init(rows: Int) { self.rows = rows }

    /// - Returns: `nil` for a link of the service.
    init?(link: String) {
        guard link.hasPrefix(Self.prefix), let rows = Int(link.dropFirst(Self.prefix.count)) else { return nil }
        self.rows = rows
    }

    var link: String { "\(Self.prefix)\(rows)" }
}
