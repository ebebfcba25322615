import ODataCache
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

extension ODataClient {
    /// What can be set besides address, transport and authentication.
    public struct Configuration: Sendable {
        /// What the client calls itself.
        public var userAgent: String
        /// Makes the id that goes with each request as `X-Request-ID`, so that it can be found in the
        /// service's logs; `nil` sends none.
        public var requestID: (@Sendable () -> String)?
        /// How batches are written.
        public var batchFormat: BatchFormat
        /// The most bytes of a response that is decoded as a whole; encoded and raw bodies stream without a limit.
        public var maxResponseSize: Int
        /// Header fields for every request.
        public var headers: [String: String]
        /// Custom query options for every request that is no link of the service, such as `sap-client`; for those of
        /// the metadata and of the token too.
        public var options: [String: String]
        /// The language of texts and messages: a tag such as `de-AT` (RFC 5646), sent as `Accept-Language`.
        public var language: String?
        /// Whether the language goes as the query option `sap-language` too, which some services want instead.
        public var sendsLanguageOption: Bool
        /// Which messages services are asked for that understand `sap-message-scope`; `nil` sends none.
        public var messageScope: MessageScope?
        /// Whether changes carry a token against cross-site request forgery.
        public var csrf: CSRFPolicy
        /// The header field of that token.
        public var csrfField: String
        /// Whether changes carry an identification by which a repeat is recognised.
        public var repeatability: RepeatabilityPolicy
        /// `Repeatability-Client-ID`, for services that tell clients apart by it.
        public var repeatabilityClientID: String?
        /// What is done about requests that the metadata says the service cannot answer.
        public var capabilities: CapabilityPolicy
        /// What is checked of the values that a change sends, against the metadata (OData CSDL 4.01, 7.1 and 7.2): all
        /// unless given. An empty set checks nothing, for services whose metadata forbid what they take.
        public var valueChecks: ValueValidator.Checks
        /// What entities of services before V4 are asked for and sent in.
        public var entityFormat: MessageDialect.EntityFormat
        /// What a change of some properties is called on the wire.
        public var updateMethod: MessageDialect.UpdateMethod
        /// Whether a POST stands for every change, for what lies between and lets only GET and POST through.
        public var tunnelsMethods: Bool
        /// Whether 64-bit integers and decimals are asked for as strings.
        public var isIEEE754Compatible: Bool
        /// Whether reads go within a `$batch`, so that what their URLs say stands in no log on the way.
        public var hidesURLs: Bool
        /// The hosts besides the service's own to which its links lead, with or without a port; see `LinkPolicy`. A link to
        /// another one fails with `TransportError.foreignLink`.
        public var followedHosts: Set<String>
        /// Whether ``headers``, fields of single requests that may hold credentials, and what an `Authentication` shows may
        /// go to another machine over plain http; `false` unless given. See ``HTTPSession/Configuration/allowsPlainHTTP``.
        public var allowsPlainHTTP: Bool
        /// Whether an answer with a value that cannot be read is refused as a whole; `false` unless given: such a value then
        /// costs its property alone, which is not loaded and named in `ControlInformation.unreadable`.
        public var refusesUnreadableValues: Bool
        /// Where the metadata is, if it is not at `$metadata`: relative to the service root, or absolute.
        public var metadataURL: String
        /// Where the metadata are kept between runs, so that they travel only when they have changed; where the
        /// service cannot be reached, what is kept counts. `nil` reads them anew each time.
        public var metadataCache: (any MetadataCache)?
        /// What is told of the work.
        public var diagnostics: Diagnostics

        /// Makes a configuration.
        public init(
            userAgent: String = "Outpost/1.0",
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

        /// A request with the options that go with every one.
        func completed(_ request: ODataRequest) -> ODataRequest {
            guard request.link == nil else { return request }
            var request = request
            let given = request.url.options.custom
            request.url.options.custom += allOptions.filter { option in !given.contains { $0.name == option.name } }
            return request
        }

        /// The address of a document with the options that go with every request.
        func completed(_ url: String) -> String {
            let address = String(url.prefix { $0 != "#" })
            let query = address.firstIndex(of: "?").map { address[address.index(after: $0)...] }
            let given = Set((query ?? "").split(separator: "&").map { String($0.prefix { $0 != "=" }) })
            var options = QueryOptions()
            options.custom = allOptions.filter { !given.contains($0.name) }
            guard !options.custom.isEmpty else { return url }
            return "\(address)\(query == nil ? "?" : "&")\(options.urlEncoded())"
        }

        /// The options that go with every request, in a fixed order.
        private var allOptions: [QueryOptions.CustomOption] {
            var all = options
            if sendsLanguageOption, let language {
                all["sap-language"] = all["sap-language"] ?? language.prefix { $0 != "-" }.uppercased()
            }
            return all.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }
        }
    }
}
