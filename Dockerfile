# WP-CLI with the sidecar beside it: the plugin starts the sidecar as a child of wp, so both have to be in one container.
FROM wordpress:cli-php8.3
USER root
RUN apk add --no-cache python3
WORKDIR /opt/coding-agents
COPY pyproject.toml README.md LICENSE ./
COPY sidecar sidecar
# Any user may be the one whose sessions are read, so any user may create a ledger below this folder.
RUN python3 -m venv venv \
 && venv/bin/pip install --no-cache-dir . \
 && ln -s /opt/coding-agents/venv/bin/coding-agents /usr/local/bin/ \
 && install -d -m 1777 /var/lib/coding-agents
WORKDIR /var/www/html
USER www-data
