//! Host and Origin: a web page from elsewhere must not reach a server on this machine.

use http::{HeaderMap, Method, StatusCode, Uri, header};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostProblem {
    NoHost,
    ForeignHost,
    ForeignOrigin,
}

impl HostProblem {
    pub fn status(self) -> StatusCode {
        match self {
            HostProblem::NoHost => StatusCode::BAD_REQUEST,
            HostProblem::ForeignHost | HostProblem::ForeignOrigin => StatusCode::FORBIDDEN,
        }
    }

    pub fn message(self) -> &'static str {
        match self {
            HostProblem::NoHost => "exactly one valid Host header is needed",
            HostProblem::ForeignHost => "this Host is not served here; see the setting `allowed_hosts`",
            HostProblem::ForeignOrigin => "this Origin may not call; see the setting `allowed_origins`",
        }
    }

    pub fn code(self) -> &'static str {
        match self {
            HostProblem::NoHost => "NO_HOST",
            HostProblem::ForeignHost => "FOREIGN_HOST",
            HostProblem::ForeignOrigin => "FOREIGN_ORIGIN",
        }
    }
}

/// What stands behind a route, and so which pages may lead a browser there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Pages and descriptions that change nothing: a link of another site may lead there.
    Pages,
    /// Whatever needs to know who is calling: only our own pages, and the origins of the settings.
    Calls,
    /// A port that no page calls, where a mere `GET` takes an id or a task.
    Service,
}

/// Names and origins under which one port is served.
#[derive(Debug, Clone)]
pub struct Hosts {
    hosts: Vec<String>,
    /// Those of the settings. A loopback name may be another program's page on another port.
    named_hosts: Vec<String>,
    origins: Vec<String>,
}

impl Hosts {
    /// Loopback names and the given ones; origins are exactly those of this port, the given ones, and pages of a given host,
    /// which a proxy may serve on another port and over TLS.
    pub fn new(port: u16, hosts: &[String], origins: &[String]) -> Hosts {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        let known = loopback.iter().map(|host| (*host).to_owned());
        let own = loopback.iter().map(|host| format!("http://{host}:{port}"));
        let named_hosts: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Hosts {
            hosts: known.chain(named_hosts.iter().cloned()).collect(),
            named_hosts,
            origins: own.chain(origins.iter().map(|origin| origin.to_ascii_lowercase())).collect(),
        }
    }

    pub fn check(&self, surface: Surface, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), HostProblem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => Some(host.to_str().map_err(|_| HostProblem::NoHost)?.to_ascii_lowercase()),
            (None, None) => None,
            (_, Some(_)) => return Err(HostProblem::NoHost),
        };
        // A request line may carry the whole address; then it counts as well as the header.
        let named = uri.authority().map(|authority| authority.as_str().to_ascii_lowercase());
        if host.is_none() && named.is_none() {
            return Err(HostProblem::NoHost);
        }
        if [&host, &named].into_iter().flatten().any(|host| !is_among(&self.hosts, host)) {
            return Err(HostProblem::ForeignHost);
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().map_err(|_| HostProblem::ForeignOrigin)?.to_ascii_lowercase();
            let is_own_page = host.as_deref().is_some_and(|host| self.is_own_page(host, &origin));
            if !is_own_page && !self.origins.contains(&origin) {
                return Err(HostProblem::ForeignOrigin);
            }
        }
        if leads_from_elsewhere(surface, method, headers) { Err(HostProblem::ForeignOrigin) } else { Ok(()) }
    }

    /// Whether the page came from the very host and port that it calls, under a name of the settings: whoever points a name of
    /// their own at this machine has one that is not there.
    fn is_own_page(&self, host: &str, origin: &str) -> bool {
        let of_page = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        of_page == Some(host) && is_among(&self.named_hosts, host)
    }
}

/// With or without a port.
fn is_among(hosts: &[String], host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    hosts.iter().any(|known| known == name || known == host)
}

/// Browsers send no Origin with what a page merely embeds or links to, such as an image or a frame, but say from where.
fn leads_from_elsewhere(surface: Surface, method: &Method, headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get_all(name).iter().any(|found| found == value);
    let (is_cross, is_same_site) = (is("sec-fetch-site", "cross-site"), is("sec-fetch-site", "same-site"));
    match surface {
        Surface::Pages => {
            let is_visit = matches!(*method, Method::GET | Method::HEAD)
                && is("sec-fetch-mode", "navigate")
                && is("sec-fetch-dest", "document");
            is_cross && !is_visit
        }
        // Another port of this machine is the same site. Its pages may call where the settings name their origin.
        Surface::Calls => is_cross || (is_same_site && !headers.contains_key(header::ORIGIN)),
        Surface::Service => is_cross || is_same_site,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(pairs: &[(&'static str, &'static str)], expected: Result<(), HostProblem>) {
        check_on(Surface::Calls, &Method::POST, pairs, expected);
    }

    #[track_caller]
    fn check_on(
        surface: Surface,
        method: &Method,
        pairs: &[(&'static str, &'static str)],
        expected: Result<(), HostProblem>,
    ) {
        let hosts = Hosts::new(8787, &["materia.example".to_owned()], &[]);
        let headers =
            pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        let found = hosts.check(surface, method, &Uri::from_static("/mcp"), &map);
        assert_eq!(found, expected, "{surface:?} {method} {pairs:?}");
    }

    #[test]
    fn what_a_foreign_page_embeds_is_refused() {
        let host = ("host", "localhost");
        let refused = Err(HostProblem::ForeignOrigin);
        for surface in [Surface::Pages, Surface::Calls, Surface::Service] {
            let foreign = ("sec-fetch-site", "cross-site");
            for mode in ["no-cors", "cors"] {
                check_on(surface, &Method::GET, &[host, foreign, ("sec-fetch-mode", mode)], refused);
            }
            let frame = [host, foreign, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
            check_on(surface, &Method::GET, &frame, refused);
            let own = [host, ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")];
            check_on(surface, &Method::GET, &own, Ok(()));
            check_on(surface, &Method::GET, &[host, ("sec-fetch-site", "none")], Ok(()));
        }
    }

    #[test]
    fn a_link_of_a_foreign_page_leads_to_pages_and_nowhere_else() {
        let link = |site| {
            [
                ("host", "localhost"),
                ("sec-fetch-site", site),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ]
        };
        let refused = Err(HostProblem::ForeignOrigin);
        for site in ["cross-site", "same-site"] {
            check_on(Surface::Pages, &Method::GET, &link(site), Ok(()));
            check_on(Surface::Calls, &Method::GET, &link(site), refused);
            check_on(Surface::Service, &Method::GET, &link(site), refused);
        }
        check_on(Surface::Pages, &Method::POST, &link("cross-site"), refused);
    }

    #[test]
    fn another_port_of_this_machine_calls_only_where_its_origin_is_known() {
        let known = [("host", "localhost"), ("sec-fetch-site", "same-site"), ("origin", "http://localhost:8787")];
        check_on(Surface::Calls, &Method::POST, &known, Ok(()));
        check_on(Surface::Service, &Method::GET, &known, Err(HostProblem::ForeignOrigin));
    }

    #[test]
    fn only_known_hosts_are_served() {
        for host in ["localhost", "localhost:8787", "127.0.0.1:1", "[::1]:8787", "[::1]", "MATERIA.example"] {
            check(&[("host", host)], Ok(()));
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io:8787", ""] {
            check(&[("host", host)], Err(HostProblem::ForeignHost));
        }
        check(&[], Err(HostProblem::NoHost));
        check(&[("host", "localhost"), ("host", "evil.example")], Err(HostProblem::NoHost));
    }

    #[test]
    fn only_the_own_origin_may_call() {
        check(&[("host", "localhost"), ("origin", "http://localhost:8787")], Ok(()));
        for origin in
            ["https://evil.example", "null", "http://localhost:9999", "http://localhost", "https://localhost:8787"]
        {
            check(&[("host", "localhost"), ("origin", origin)], Err(HostProblem::ForeignOrigin));
        }
    }

    #[test]
    fn the_pages_of_a_host_of_the_settings_may_call_it() {
        let own = [
            ("materia.example", "https://materia.example"),
            ("materia.example", "http://materia.example"),
            ("Materia.example:8443", "https://materia.example:8443"),
        ];
        for (host, origin) in own {
            check(&[("host", host), ("origin", origin)], Ok(()));
        }
        let others = [
            ("materia.example", "https://materia.example:9999"),
            ("materia.example:8787", "https://materia.example"),
            ("materia.example", "https://evil.example"),
            ("materia.example", "null"),
            ("materia.example", "materia.example"),
            ("materia.example", "ftp://materia.example"),
            ("localhost", "https://materia.example"),
            ("localhost:9999", "http://localhost:9999"),
        ];
        for (host, origin) in others {
            check(&[("host", host), ("origin", origin)], Err(HostProblem::ForeignOrigin));
        }
        // A name that somebody else points at this machine.
        check(&[("host", "evil.example"), ("origin", "http://evil.example")], Err(HostProblem::ForeignHost));
    }
}
