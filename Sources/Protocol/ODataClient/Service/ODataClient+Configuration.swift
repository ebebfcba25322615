import ODataCache
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

extension ODataClient {
    /// The settings of a client other than address, transport and authentication.
    ///
    /// ```swift
    /// var configuration = ODataClient.Configuration()
    /// configuration.language = "de"
    /// configuration.headers["X-Tenant"] = "blue"
    /// let client = try ODataClient(serviceRoot: root, transport: transport, configuration: configuration)
    /// ```
    public struct Configuration: Sendable {
        /// The value of `User-Agent`.
        public var userAgent: String
        /// Returns the id that is sent with each request as `X-Request-ID`, so that it can be found in the logs
        /// of the service; `nil` sends none.
        public var requestID: (@Sendable () -> String)?
        /// The format of batches.
        public var batchFormat: BatchFormat
        /// The maximum number of bytes of a response that is decoded as a whole. Encoded and raw bodies are
        /// streamed without a limit.
        public var maxResponseSize: Int
        /// The header fields of every request.
        public var headers: [String: String]
        /// The custom query options of every request that is not a link of the service, such as `sap-client`.
        /// They are also added to requests for metadata and tokens.
        public var options: [String: String]
        /// The language of texts and messages: a tag such as `de-AT` (RFC 5646), sent as `Accept-Language`.
        public var language: String?
        /// Whether the language is also sent as the query option `sap-language`, which some services require.
        public var sendsLanguageOption: Bool
        /// The scope of messages for services that support `sap-message-scope`; `nil` sends none.
        public var messageScope: MessageScope?
        /// The use of tokens against cross-site request forgery.
        public var csrf: CSRFPolicy
        /// The name of the header field that carries the token.
        public var csrfField: String
        /// The use of identifications by which a service recognizes repeated changes.
        public var repeatability: RepeatabilityPolicy
        /// The value of `Repeatability-Client-ID`, for services that distinguish clients by it.
        public var repeatabilityClientID: String?
        /// The treatment of requests that the service does not support according to its metadata.
        public var capabilities: CapabilityPolicy
        /// The checks of sent values against the metadata (OData CSDL 4.01, 7.1 and 7.2); by default, all of
        /// them. An empty set disables the checks, for services that accept more than their metadata allows.
        public var valueChecks: ValueValidator.Checks
        /// The format of entities for services before V4.
        public var entityFormat: MessageDialect.EntityFormat
        /// The HTTP method of updates.
        public var updateMethod: MessageDialect.UpdateMethod
        /// Whether all changes are tunnelled through POST, for intermediaries that allow only GET and POST.
        public var tunnelsMethods: Bool
        /// Whether 64-bit integers and decimals are requested as strings.
        public var isIEEE754Compatible: Bool
        /// Whether reads are sent in a `$batch`, so that their URLs do not appear in logs of intermediaries.
        public var hidesURLs: Bool
        /// The hosts to which links of the service may lead besides its own, with or without a port; see
        /// `LinkPolicy`. A link to any other host fails with `TransportError.foreignLink`.
        public var followedHosts: Set<String>
        /// Whether credentials may be sent to another machine over plain HTTP; by default, `false`. This
        /// includes ``headers``, fields of single requests and those of an `Authentication`. See
        /// ``HTTPSession/Configuration/allowsPlainHTTP``.
        public var allowsPlainHTTP: Bool
        /// Whether a response with an unreadable value is refused as a whole; by default, `false`. Otherwise
        /// only the property is not loaded, and `ControlInformation.unreadable` contains its name.
        public var refusesUnreadableValues: Bool
        /// The URL of the metadata, relative to the service root or absolute.
        public var metadataURL: String
        /// The cache that keeps metadata between launches, so that only changed metadata is transferred. If the
        /// service is unreachable, the cached metadata is used. `nil` loads the metadata at each launch.
        public var metadataCache: (any MetadataCache)?
        /// The logs, metrics, traces and timings of the client.
        public var diagnostics: Diagnostics

        /// Creates a configuration.
        public init(
            userAgent: String = OutpostProduct.token,
            requestID: (@Sendable () -> String)? = { ODataGuid.random().description },
            batchFormat: BatchFormat = .multipart, maxResponseSize: Int = 256 << 20, headers: [String: String] = [:],
            options: [String: String] = [:], language: String? = nil, sendsLanguageOption: Bool = false,
            messageScope: MessageScope? = nil,
            csrf: CSRFPolicy = .automatic, csrfField: String = "X-CSRF-Token",
            repeatability: RepeatabilityPolicy = .whenSupported, repeatabilityClientID: String? = nil,
            capabilities: CapabilityPolicy = .check, valueChecks: ValueValidator.Checks = .all,
            entityFormat: MessageDialect.EntityFormat = .json,
            updateMethod: MessageDialect.UpdateMethod = .automatic, tunnelsMethods: Bool = false,
            isIEEE754Compatible: Bool = false, hidesURLs: Bool = false, followedHosts: Set<String> = [],
            allowsPlainHTTP: Bool = false, refusesUnreadableValues: Bool = false, metadataURL: String = "$metadata",
            metadataCache: (any MetadataCache)? = nil, diagnostics: Diagnostics = Diagnostics()
        ) {
            self.userAgent = userAgent
            self.requestID = requestID
            self.batchFormat = batchFormat
            self.maxResponseSize = maxResponseSize
            self.headers = headers
            self.options = options
            self.language = language
            self.sendsLanguageOption = sendsLanguageOption
            self.messageScope = messageScope
            self.csrf = csrf
            self.csrfField = csrfField
            self.repeatability = repeatability
            self.repeatabilityClientID = repeatabilityClientID
            self.capabilities = capabilities
            self.valueChecks = valueChecks
            self.entityFormat = entityFormat
            self.updateMethod = updateMethod
            self.tunnelsMethods = tunnelsMethods
            self.isIEEE754Compatible = isIEEE754Compatible
            self.hidesURLs = hidesURLs
            self.followedHosts = followedHosts
            self.allowsPlainHTTP = allowsPlainHTTP
            self.refusesUnreadableValues = refusesUnreadableValues
            self.metadataURL = metadataURL
            self.metadataCache = metadataCache
            self.diagnostics = diagnostics
        }

        func dialect(
            _ model: EntityDataModel, _ form: MessageForms.Form, method: ODataRequest.Method
        ) -> MessageDialect {
            MessageDialect(
                version: ServiceCapabilities(model).version, entityFormat: form.entityFormat, batchFormat: batchFormat,
                updateMethod: form.updateMethod,
                tunnelsMethods: tunnelsMethods || form.tunnelsUpdates && method == .update,
                isIEEE754Compatible: isIEEE754Compatible)
        }

        /// Returns a request with the options of every request. A link is returned unchanged.
        func completed(_ request: ODataRequest) -> ODataRequest {
            guard request.link == nil else { return request }
            var request = request
            let given = request.url.options.custom
            request.url.options.custom += allOptions.filter { option in !given.contains { $0.name == option.name } }
            return request
        }

        /// Returns the URL of a document with the options of every request.
        func completed(_ url: String) -> String {
            let address = String(url.prefix { $0 != "#" })
            let query = address.firstIndex(of: "?").map { address[address.index(after: $0)...] }
            let given = Set((query ?? "").split(separator: "&").map { String($0.prefix { $0 != "=" }) })
            var options = QueryOptions()
            options.custom = allOptions.filter { !given.contains($0.name) }
            guard !options.custom.isEmpty else { return url }
            return "\(address)\(query == nil ? "?" : "&")\(options.urlEncoded())"
        }

        /// The options of every request, in a fixed order.
        private var allOptions: [QueryOptions.CustomOption] {
            var all = options
            if sendsLanguageOption, let language {
                all["sap-language"] = all["sap-language"] ?? language.prefix { $0 != "-" }.uppercased()
            }
            return all.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }
        }
    }
}
