#if canImport(Security)
    import Foundation
    import HTTPTypes
    import ODataHTTP
    import Synchronization

    /// Downloads that the system continues while the app is suspended or has ended (Apple platforms only).
    ///
    /// The system writes each download to a file and then launches the app, which receives the file here. The
    /// credentials are those of the original request. A request that may wait for a long time needs a token
    /// with a long lifetime.
    ///
    /// ```swift
    /// let downloads = BackgroundDownloads(identifier: "com.example.shop") { label, result in … }
    /// downloads.start(request, label: "manual")
    /// ```
    public final class BackgroundDownloads: NSObject, URLSessionDownloadDelegate, Sendable {
        /// Receives the result of a download: the file, which is deleted when the call returns, and the head of
        /// the response.
        public typealias Finish =
            @Sendable (_ label: String, Result<(file: URL, response: HTTPResponse), any Error>) -> Void

        private let finish: Finish
        private let session = Mutex<URLSession?>(nil)

        /// Resumes the downloads of an identifier, including those of an earlier launch.
        ///
        /// - Parameters:
        ///   - identifier: The name of the downloads across launches.
        ///   - allowsExpensive: Whether metered networks are used.
        public init(identifier: String, allowsExpensive: Bool = false, finish: @escaping Finish) {
            self.finish = finish
            super.init()
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.allowsExpensiveNetworkAccess = allowsExpensive
            configuration.sessionSendsLaunchEvents = true
            let own = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            session.withLock { $0 = own }
        }

        /// Starts a download.
        ///
        /// - Throws: ``TransportError/invalidURL(_:)``.
        public func start(_ request: HTTPRequest, label: String) throws {
            let text = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")"
            guard Origin(request) != nil, let url = URL(string: text) else { throw TransportError.invalidURL(text) }
            var message = URLRequest(url: url)
            message.add(request.headerFields)
            let task = session.withLock { $0?.downloadTask(with: message) }
            task?.taskDescription = label
            task?.resume()
        }

        /// Called by the system when a file is complete.
        public func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            guard let answer = downloadTask.response as? HTTPURLResponse else { return }
            var head = HTTPResponse(status: .init(code: answer.statusCode))
            for (name, value) in answer.allHeaderFields {
                guard let name = name as? String, let value = value as? String, let field = HTTPField.Name(name) else {
                    continue
                }
                head.headerFields[field] = value
            }
            finish(downloadTask.taskDescription ?? "", .success((location, head)))
        }

        /// Called by the system when a download has failed.
        public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let error else { return }
            finish(task.taskDescription ?? "", .failure(error))
        }

        /// Refuses redirects to another origin, which must not receive the credentials.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            let (old, new) = (task.originalRequest?.url, request.url)
            let staysHome = old?.scheme == new?.scheme && old?.host == new?.host && old?.port == new?.port
            completionHandler(staysHome ? request : nil)
        }
    }
#endif
